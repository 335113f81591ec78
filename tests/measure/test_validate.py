"""Validation is green for right masks and red, with the cell's name, for the smallest wrong thing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compilemask import library
from compilemask.descriptor import Descriptor
from compilemask.kernel.reference import AttentionResult
from compilemask.language.meaning import visible
from compilemask.language.program import Program
from compilemask.measure import kernel_checks
from compilemask.measure.kernel_runs import Inputs, interpreted
from compilemask.measure.machine import gpu_name
from compilemask.measure.oracle import BlockOracle
from compilemask.measure.progress import Stopped
from compilemask.measure.reduced_mask import ReducedMask
from compilemask.measure.report import Check, Outcome, ValidationReport
from compilemask.measure.validate import validate
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.pipeline import compile as compile_mask
from tests.kernel.made_masks import DenseMask

EXAMPLES = sorted((Path(__file__).parent.parent / "language" / "examples").glob("*.mask"))

SMALL = """
title "Two documents"
param lengths = [70, 59]
layout
    document : lengths
rules
    everything sees everything : causal within document
"""


def small() -> CompiledMask:
    return compile_text(SMALL, name="two.mask")


def checks(report: ValidationReport) -> dict[str, Check]:
    return {check.name: check for check in report.checks}


@pytest.mark.parametrize("name", library.names())
def test_every_library_mask_compiles_to_what_it_means(name: str) -> None:
    report = validate(compile_mask(name), kernel=False)

    wrong = [f"{check.name}: {check.first_wrong and check.first_wrong.describe()}" for check in report.checks]
    assert report.passed, wrong


def agree(program: Program, cells: int) -> None:
    """The block oracle and the meaning say the same of some cells of every distinct mask."""
    random = np.random.default_rng(7)
    for number, variant in enumerate(program.variants[:3]):
        batch, head = np.argwhere(np.array(program.variant) == number)[0].tolist()
        queries = np.unique(random.integers(0, variant.queries.length, cells))
        keys = np.unique(random.integers(0, variant.keys.length, cells))
        found = BlockOracle(variant).cells(queries, keys)
        expected = [[visible(program, q, k, batch, head) for k in keys.tolist()] for q in queries.tolist()]
        assert found.tolist() == expected


@pytest.mark.parametrize("name", library.names())
def test_the_block_oracle_agrees_with_the_meaning_of_library_masks(name: str) -> None:
    agree(compile_mask(name).program, 4)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_block_oracle_agrees_with_the_meaning_of_examples(path: Path) -> None:
    agree(compile_mask(path).program, 12)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_compiles_to_what_it_means(path: Path) -> None:
    report = validate(compile_mask(path), block_m=16, block_n=16, kernel=False)

    assert report.passed, [check.first_wrong and check.first_wrong.describe() for check in report.checks]


EXPRESSIONS = {
    "functions": "morton(y, x)",
    "curve": "hilbert(y, x)",
    "extremes": "min(at, 5) + max(y, x) * abs(at - 11)",
    "lists": "count(starts, at)",
    "absent": "find(marks, at)",
    "running": "cumsum(at in marks)",
    "choice": "at // 3 if y % 2 == 0 else 7",
    "tables": "table[y][x]",
    "slices": "len(marks[0:y])",
    "pairs": "1 if (y, x) in [(0, 1), (3, 3)] else 0",
    "words": '1 if names[y % 2] == "even" else 0',
    "unbounded": "any if x == 2 else x",
}


@pytest.mark.parametrize("value", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
@pytest.mark.parametrize("how", ["same code", "causal by code", "q.code + 1 >= k.code and not same (x % 2)"])
def test_the_block_oracle_evaluates_expressions_as_the_meaning_does(value: str, how: str) -> None:
    text = f"""
param starts = [0, 4, 9, 20], marks = [3, 8, 8, 15], names = ["even", "odd"]
param table = [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [0, 0, 1, 1, 0], [9, 8, 7, 6, 5], [1, 1, 1, 1, 1]]
layout
    image : grid(5, 5)
let code = {value}
rules
    image sees image : {how}
"""
    compiled = compile_text(text)

    agree(compiled.program, 14)
    assert validate(compiled, kernel=False).passed


def test_a_small_mask_is_compared_whole_and_its_kernel_runs() -> None:
    report = validate(small(), block_m=64, block_n=64)

    assert report.passed
    assert checks(report)["intervals"].scope == "all 16,641 cells"
    kernels = [check for check in report.checks if check.name.startswith("kernel")]
    runs = {(*check.name.split()[1:-1], check.name.split()[-1]) for check in kernels}
    outputs = ("out", "lse", "dq", "dk", "dv")
    ways = [(dtype, *data) for dtype in ("float32", "float16") for data in ((), ("adverse",))]
    ways += [("float16", "grouped"), ("float16", "sets")]
    assert runs == {(*way, output) for way in ways for output in outputs}
    assert any("in cells" in note for note in report.notes)
    assert all(check.of_budget is not None and check.of_budget <= 1 for check in kernels)


@pytest.mark.skipif(gpu_name() is not None, reason="the note is about machines without a GPU")
@pytest.mark.parametrize(
    ("queries", "keys", "compared", "noted", "verdict"),
    [
        (70, 90, "all 70 x 90 tokens", "the whole mask", "proved"),
        (70, 400, "reduced to 70 x ", "pieces of the mask", "proved on pieces"),
        (70, 5000, "reduced to 70 x ", "pieces of the mask", "proved on samples, pieces"),
    ],
)
def test_note_table_and_verdict_agree_on_what_the_interpreter_ran(
    queries: int, keys: int, compared: str, noted: str, verdict: str
) -> None:
    text = f"queries\n    a : {queries}\nkeys\n    b : {keys}\nrules\n    a sees b : all\n"
    report = validate(compile_text(text))

    kernels = [check for check in report.checks if check.name.startswith("kernel")]
    assert all(check.scope.startswith(compared) for check in kernels if "grouped" not in check.name)
    (note,) = (note for note in report.notes if "interpreter" in note)
    assert noted in note
    assert report.verdict == verdict


def test_the_verdict_says_that_no_kernel_ran_and_how_many_heads_were_left_out() -> None:
    rules = "\n".join(f"rules when head == {head}\n    a sees a : window(behind={head}, ahead=0)" for head in range(17))
    report = validate(compile_text(f"heads 17\nlayout\n    a : 20\n{rules}\n"), kernel=False)
    assert report.verdict == "proved on the mask only, 16 of 17 distinct masks"


@pytest.mark.parametrize(("output", "row", "token"), [("out", 75, "query"), ("dk", 20, "key")])
def test_a_wrong_value_of_the_kernel_is_named_by_its_token(
    monkeypatch: pytest.MonkeyPatch, output: str, row: int, token: str
) -> None:
    def wrong(mask: ReducedMask, given: Inputs) -> AttentionResult:
        found = interpreted(mask, given)
        if mask.is_whole:
            getattr(found, output)[0, 0, row, 3] += 1.0
        return found

    monkeypatch.setattr(kernel_checks, "interpreted", wrong)

    report = validate(small(), block_m=64, block_n=64)

    failed = [check for check in report.checks if check.outcome is Outcome.FAIL]
    names = {f"kernel {dtype} {data}{output}" for dtype in ("float32", "float16") for data in ("", "adverse ")}
    assert {check.name for check in failed} == names | {f"kernel float16 sets {output}"}
    first = failed[0].first_wrong
    assert first is not None
    assert getattr(first, token) == row
    assert getattr(first, f"{token}_region") == ("document[1]+5" if row == 75 else "document[0]+20")
    assert first.expected.startswith(output)


def test_a_kernel_that_sees_one_cell_too_many_is_told_which(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(mask: ReducedMask, given: Inputs) -> AttentionResult:
        cells = mask.visible.copy()
        if mask.is_whole:
            cells[0, 0, 75, 20] = True  # in a document of its own
        return interpreted(DenseMask(cells), given)

    monkeypatch.setattr(kernel_checks, "interpreted", leaking)

    found = checks(validate(small(), block_m=64, block_n=64))

    for output in ("out", "dq", "dk", "dv"):
        cell = found[f"kernel float16 sets {output}"].first_wrong
        assert cell is not None
        assert (cell.query, cell.key, cell.expected, cell.found) == (75, 20, "hidden", "visible")
    lse = found["kernel float16 sets lse"].first_wrong
    assert lse is not None
    assert lse.describe() == "batch 0 head 0, query 75 = document[1]+5: expected 6 visible keys, found 7 visible keys"


def flipped(descriptor: Descriptor, pattern: int, row: int, column: int) -> Descriptor:
    """The descriptor with one bit of one pattern turned over."""
    patterns = descriptor.patterns.copy()
    patterns[pattern, row, column // 32] ^= np.uint32(1) << np.uint32(column % 32)
    return replace(descriptor, patterns=patterns)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (5, 9), (63, 63), (17, 40)])
def test_one_flipped_bit_of_a_pattern_is_found_and_named(row: int, column: int) -> None:
    mask = small()
    descriptor = mask.descriptor(64, 64)
    first = int(descriptor.by_query.partial_patterns[0])
    key_tile = int(descriptor.by_query.partial_tiles[0])

    report = validate(mask, descriptor=flipped(descriptor, first, row, column), kernel=False)

    assert not report.passed
    for name in ("descriptor by query", "descriptor by key"):
        check = checks(report)[name]
        assert check.outcome is Outcome.FAIL
        assert check.first_wrong is not None
        assert (check.first_wrong.query, check.first_wrong.key) == (row, key_tile * 64 + column)
        assert check.first_wrong.tile == (0, key_tile)
        was = visible(mask.program, row, key_tile * 64 + column)
        assert (check.first_wrong.expected == "visible") is was
    assert checks(report)["intervals"].outcome is Outcome.PASS


def test_a_bit_past_the_last_key_is_found() -> None:
    mask = small()
    descriptor = mask.descriptor(64, 64)
    row = 2 * 3 - 1
    last = int(descriptor.by_query.partial_patterns[descriptor.by_query.partial_offsets[row // 2 + 1] - 1])

    report = validate(mask, descriptor=flipped(descriptor, last, 0, 63), kernel=False)

    assert not report.passed


@pytest.mark.parametrize("field", ["partial_tiles", "partial_patterns", "full_runs"])
@pytest.mark.parametrize("walk", ["by_query", "by_key"])
def test_a_wrong_list_is_found(walk: str, field: str) -> None:
    mask = compile_text(SMALL.replace("[70, 59]", "[200, 150]"), name="two.mask")
    descriptor = mask.descriptor(64, 64)
    lists = getattr(descriptor, walk)
    values = getattr(lists, field).copy()
    values.reshape(-1)[-1] ^= 1

    report = validate(mask, descriptor=replace(descriptor, **{walk: replace(lists, **{field: values})}), kernel=False)

    assert not report.passed


def test_a_flipped_bit_of_a_long_mask_is_found_by_its_count() -> None:
    mask = compile_mask("causal", length=20_000)
    descriptor = mask.descriptor(128, 128)

    report = validate(mask, descriptor=flipped(descriptor, 0, 77, 3), kernel=False)

    assert checks(report)["descriptor cell count"].outcome is Outcome.FAIL
    assert any("sampled" in note for note in report.notes)


def test_a_tile_that_is_listed_twice_is_found_by_its_count() -> None:
    """Its cells are visible either way, but a kernel would add their keys twice."""
    mask = small()
    descriptor = mask.descriptor(64, 64)
    lists = descriptor.by_query
    offsets = lists.partial_offsets.copy()
    offsets[-1] += 1
    twice = replace(
        lists,
        partial_offsets=offsets,
        partial_tiles=np.append(lists.partial_tiles, lists.partial_tiles[-1]),
        partial_patterns=np.append(lists.partial_patterns, lists.partial_patterns[-1]),
    )

    found = checks(validate(mask, descriptor=replace(descriptor, by_query=twice), kernel=False))

    assert [name for name, check in found.items() if check.outcome is Outcome.FAIL] == ["descriptor cell count"]


def test_a_long_mask_is_compared_on_the_same_rows_every_time() -> None:
    mask = compile_mask("causal", length=9_000)

    first, second = validate(mask, kernel=False), validate(mask, kernel=False)

    assert first.passed
    assert [check.scope for check in first.checks] == [check.scope for check in second.checks]
    assert checks(first)["intervals"].scope.endswith("of 9,000 rows, region borders among them")


def test_progress_is_told_and_can_stop() -> None:
    texts: list[str] = []

    def stop_at_the_descriptor(done: int, total: int, text: str) -> None:
        assert 0 <= done <= total
        texts.append(text)
        if "descriptor" in text:
            raise Stopped

    with pytest.raises(Stopped):
        validate(small(), kernel=False, progress=stop_at_the_descriptor)

    assert texts[-1] == "descriptor"
    assert len(texts) == 4
