"""`compilemask explain`: whether a query sees a key, and by which rule."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import check_head, compiled_of, slot_of
from compilemask.command_line.screen import say, say_json
from compilemask.measure.naming import token_name
from compilemask.pipeline.explanation import Considered, Explanation


def run(arguments: Namespace) -> ExitCode:
    """Print the answer; exit 0 whether the cell is visible or not."""
    compiled = compiled_of(arguments)
    batch, head = arguments.batch, arguments.head
    check_head(compiled, batch, head)
    variant = compiled.program.variant_of(batch, head)
    query = slot_of(compiled, variant.queries, "query", arguments.query)
    key = slot_of(compiled, variant.keys, "key", arguments.key)
    names = token_name(variant.queries, query), token_name(variant.keys, key)
    found = compiled.explain(query, key, batch, head)
    if arguments.json:
        cell = {"name": compiled.name, "query": query, "key": key, "batch": batch, "head": head}
        say_json({**cell, "query_region": names[0], "key_region": names[1], **explanation_json(found)})
        return ExitCode.GOOD
    say(f"query {query:,} = {names[0]}")
    say(f"key   {key:,} = {names[1]}")
    for line in explanation_lines(found):
        say(line)
    return ExitCode.GOOD


def explanation_json(found: Explanation) -> dict[str, Any]:
    """What decides a cell, for programs."""
    span = found.span
    return {
        "visible": found.visible,
        "rule": found.rule_number,
        "file": span.source.name if span else None,
        "line": span.line if span else None,
        "text": found.text,
        "considered": [_told(one) for one in found.considered],
    }


def explanation_lines(found: Explanation) -> Iterator[str]:
    """What decides a cell, for people: the verdict, the line of the file, and what was considered."""
    yield f"{'visible' if found.visible else 'not visible'}: {found.text}"
    decided = found.rule is not None and all(one.rule is not found.rule for one in found.considered)
    if decided and found.span is not None:
        yield f"  {found.span.source.name}:{found.span.line}: {found.span.source.line(found.span.line).strip()}"
    for one in found.considered:
        yield f"  {one.sentence()}"


def _told(one: Considered) -> dict[str, Any]:
    span = one.rule.span
    return {
        "rule": one.rule.number,
        "file": span.source.name if span else None,
        "line": span.line if span else None,
        "text": one.text,
        "why": one.why,
    }
