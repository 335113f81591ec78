"""Takes out rules that a change of the matrix made idle, where the mask stays equal cell by cell. Run in a thread."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compilemask.errors import CompileMaskError
from compilemask.language import syntax
from compilemask.language.parser import parse
from compilemask.pipeline import CompiledMask
from compilemask.source import Source
from compilemask_app.composing.text_edits import TextEdit, applied, deleting_line, source_text
from compilemask_app.jobs.equal_texts import compiled, equal_masks

if TYPE_CHECKING:
    from compilemask_app.jobs.compile_job import CompileRequest

IDLE = frozenset({"rule-hidden", "rule-hides-nothing", "rule-never-matches"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What the change is for: a cell, by the names of its regions, that is to show something or nothing."""

    who: str
    whom: str
    shows: bool

    def is_said_by(self, rule: syntax.Rule) -> bool:
        """Whether a rule says it."""
        return rule.shows is self.shows and (_last(rule.who), _last(rule.whom)) == (self.who, self.whom)


def tidied(request: CompileRequest, edits: tuple[TextEdit, ...], asked: Asked) -> tuple[TextEdit, ...]:
    """The edits, and with them the lines that they made idle.

    Such lines are about one region and one region, or about everything and everything, on a line of their own. What was
    asked for stays; so does what was idle before.
    """
    changed = replace(request, text=applied(request.text, list(edits)))
    try:
        kept = {_line(request.text, line) for line in _idle(compiled(request))}
        text = _without_idle(changed, kept, asked)
    except CompileMaskError:
        return edits
    return edits if text == changed.text else _difference(request.text, text)


def _without_idle(changed: CompileRequest, kept: set[str], asked: Asked) -> str:
    """The text without its idle rules, one after another: each must leave the mask as it is."""
    now, refused = changed, set(kept)
    while True:
        may_go = {rule.span.line for rule in _plain(now.text) if not asked.is_said_by(rule)}
        idle = [line for line in sorted(_idle(compiled(now)) & may_go) if _line(now.text, line) not in refused]
        if not idle:
            return now.text
        tried = replace(now, text=applied(now.text, [deleting_line(idle[0] - 1)]))
        if equal_masks(tried, changed):
            now = tried
        else:
            refused.add(_line(now.text, idle[0]))


def _idle(mask: CompiledMask) -> set[int]:
    """The lines of the rules that change nothing."""
    return {found.span.line for found in mask.diagnostics if found.code in IDLE and found.span is not None}


def _plain(text: str) -> Iterator[syntax.Rule]:
    """Rules as the matrix writes them, and as a new text begins with."""
    for block in parse(Source("text", text)).statements:
        if not isinstance(block, syntax.Rules) or block.when is not None:
            continue
        for rule in block.rules:
            if not isinstance(rule, syntax.Rule) or rule.span.line != rule.span.end_line:
                continue
            sides = {type(rule.who), type(rule.whom)}
            if sides in ({syntax.RegionPath}, {syntax.Everything}) and "#" not in _line(text, rule.span.line):
                yield rule


def _last(selector: syntax.Selector) -> str:
    return selector.names[-1] if isinstance(selector, syntax.RegionPath) else source_text(selector.span)


def _line(text: str, line: int) -> str:
    return text.split("\n")[line - 1].strip()


def _difference(before: str, after: str) -> tuple[TextEdit, ...]:
    """Edits of whole lines that lead from one text to the other."""
    old, new = before.split("\n"), after.split("\n")
    edits = []
    for kind, i, to_i, j, to_j in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "delete":
            edits.append(TextEdit((i, 0), (to_i, 0), ""))
        elif kind == "insert":
            edits.append(TextEdit((i, 0), (i, 0), "".join(f"{line}\n" for line in new[j:to_j])))
        elif kind == "replace":
            edits.append(TextEdit((i, 0), (to_i - 1, len(old[to_i - 1])), "\n".join(new[j:to_j])))
    return tuple(edits) if applied(before, edits) == after else (TextEdit((0, 0), (len(old) - 1, len(old[-1])), after),)
