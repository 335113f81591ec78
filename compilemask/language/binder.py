"""Binding: a syntax tree and the values of its parameters become a program in which every size is known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from compilemask.errors import MaskFileError
from compilemask.language import checker, effort, syntax
from compilemask.language import program as ir
from compilemask.language.bind_file import Collected, collect
from compilemask.language.bind_parameters import (
    Given,
    batch_of,
    constants,
    given_values,
)
from compilemask.language.bind_sample import BoundSample, bind_sample, heads_of
from compilemask.language.findings import Findings, reject
from compilemask.language.given_kinds import naming_given
from compilemask.language.program import Program
from compilemask.language.values import Value
from compilemask.source import Diagnostic, Severity

MOST_TOKENS_TOGETHER = 2**25


def bind(
    file: syntax.File,
    params: Mapping[str, object] | None = None,
    samples: Sequence[Mapping[str, object]] | None = None,
    folder: Path | None = None,
) -> Program:
    """Bind a file. `folder` is where its includes and data files lie; None: it may name none.

    `params` gives values by name, `samples` further ones per sample of the batch. Raises MaskFileError with all errors.
    """
    with effort.limited():
        return _bound(file, params, samples, folder)


def _bound(
    file: syntax.File,
    params: Mapping[str, object] | None,
    samples: Sequence[Mapping[str, object]] | None,
    folder: Path | None,
) -> Program:
    findings = Findings()
    collected = collect(file, folder, findings)
    _stop_on_errors(findings)
    given = given_values(collected, params, samples, findings)
    raw = constants(collected, given, findings)
    findings.found = naming_given(findings.found, collected, given)
    _stop_on_errors(findings)
    checker.check_names(collected, findings)
    try:
        program = _program(collected, given, raw, findings)
    except RecursionError:
        raise MaskFileError([_too_deep()]) from None
    findings.found = naming_given(findings.found, collected, given)
    _stop_on_errors(findings)
    assert program is not None
    return program


def _too_deep() -> Diagnostic:
    return Diagnostic(Severity.ERROR, "expansion-too-deep", "the expressions of this mask are nested too deeply", None)


def _stop_on_errors(findings: Findings) -> None:
    if findings.failed:
        raise MaskFileError(in_order(findings.found))


def in_order(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Errors first, then warnings and notes; each in the order of the text."""
    severities = list(Severity)

    def place(diagnostic: Diagnostic) -> tuple[int, int, int]:
        span = diagnostic.span
        line, column = (span.line, span.column) if span is not None else (0, 0)
        return severities.index(diagnostic.severity), line, column

    return sorted(found, key=place)


def _program(collected: Collected, given: Given, raw: Mapping[str, Value], findings: Findings) -> Program | None:
    batch = 1
    heads = 1
    with findings.catching():
        batch = batch_of(collected, given, raw)
        heads = heads_of(collected, given, raw, findings, batch)
    if batch < 1:
        return None
    bound: list[BoundSample] = []
    known: dict[Hashable, BoundSample] = {}
    tokens = 0
    for number in range(batch):
        key = _values_of(collected, given, raw, number)
        sample = known.get(key) if bound and not bound[0].used_batch else None
        if sample is None:
            sample = bind_sample(collected, given, number, batch, heads, findings)
            if sample is None:
                return None
            known[key] = sample
            tokens += sum(axis.length for axis in {id(axis): axis for axis in sample.axes}.values())
        bound.append(sample)
        with findings.catching():
            _check_lengths(bound, number)
            _check_together(tokens, bound[0])
        if findings.failed:
            return None
    return _assembled(collected, bound, batch, heads, findings)


def _values_of(collected: Collected, given: Given, raw: Mapping[str, Value], number: int) -> Hashable:
    """What tells a sample from others: its entries of the values per batch, and its own values."""
    names = [name for name in raw if collected.parameters[name].parameter.per == "batch"]
    entries = [(name, _entry(raw[name], number)) for name in names]
    own = given.samples[number if len(given.samples) > 1 else 0].items() if given.samples else ()
    return tuple((name, type(value), value) for name, value in (*entries, *own))


def _entry(value: Value, number: int) -> Value | None:
    entries = getattr(value, "items", (value,))
    return entries[number if len(entries) > 1 else 0] if entries else None


def _check_lengths(bound: Sequence[BoundSample], number: int) -> None:
    first, last = bound[0].variants[0], bound[-1].variants[0]
    for name, a, b in (
        ("queries", first.queries.length, last.queries.length),
        ("keys", first.keys.length, last.keys.length),
    ):
        if a != b:
            raise reject(
                "samples-differ",
                f"samples must have equal lengths: sample 0 has {a} {name}, sample {number} has {b}",
                bound[0].layout_span,
                "fill up with `padding : room - used`",
            )


def _check_together(tokens: int, first: BoundSample) -> None:
    if tokens > MOST_TOKENS_TOGETHER:
        raise reject(
            "too-many-tokens",
            f"samples of different sizes have {tokens:,} tokens together, at most {MOST_TOKENS_TOGETHER:,} are allowed",
            first.layout_span,
            "bind the batch in parts",
        )


def _assembled(
    collected: Collected, bound: Sequence[BoundSample], batch: int, heads: int, findings: Findings
) -> Program:
    variants: list[ir.Variant] = []
    places: dict[int, tuple[int, ...]] = {}
    rows: list[tuple[int, ...]] = []
    for sample in bound:
        if id(sample) not in places:
            places[id(sample)] = tuple(len(variants) + place for place in sample.head_variant)
            variants += sample.variants
        rows.append(places[id(sample)])
    checker.check_program(collected, variants, findings)
    if len(set(rows)) == 1 and batch > 1:
        rows = rows[:1] * batch
    title = collected.title.text if collected.title is not None else ""
    warnings = tuple(in_order([d for d in findings.found if d.severity is not Severity.ERROR]))
    return Program(collected.source.name, title, collected.source, batch, heads, tuple(variants), tuple(rows), warnings)
