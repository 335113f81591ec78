"""The probes see every single wrong cell in every output, name it, and are green for right kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from compilemask.kernel.reference import AttentionResult
from compilemask.measure import whole_sets
from compilemask.measure.code_sums import code_sums, judge, wrong_member
from compilemask.measure.kernel_runs import Inputs, called
from compilemask.measure.places import places
from compilemask.measure.report import Outcome
from compilemask.measure.set_probe import judge_keys, judge_queries, key_probe, query_probe
from compilemask.pipeline import CompiledMask
from compilemask.pipeline import compile as compile_mask
from tests.measure.leaks import Cells, causal, errors, in_interpreter, on_cpu, sets, with_wrong_cell

HALVES = [torch.float16, torch.bfloat16]
OUTPUTS = {"out", "lse", "dq", "dk", "dv"}
RUNS = {
    "63, CPU": (on_cpu, 63, (0, 20, 61), HALVES),
    "1000, CPU": (on_cpu, 1000, (998,), HALVES),
    "1024, CPU": (on_cpu, 1024, (250,), HALVES),
    "63, interpreter": (in_interpreter, 63, (0, 40), [torch.float16, torch.float32]),
}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", RUNS)
def test_one_wrong_cell_is_red_in_every_output(name: str, number: int) -> None:
    run, length, rows, dtypes = RUNS[name]
    right = causal(length)
    for row in rows:
        for kind, wrong, keys in with_wrong_cell(right, row):
            found = sets(run, right, wrong, dtypes[number], head_dim=32 if length > 63 else 64)
            red = {name for name, error in found.items() if not error.within}
            assert red == OUTPUTS - ({"lse"} if kind == "swapped" else set()), (row, kind, found)
            assert (found["out"].position, found["out"].other) == ((0, 0, row), min(keys))
            assert found["dk"].position == found["dv"].position
            if row > 0:  # in row 0 the only key loses half of its weight to the other
                assert (found["dk"].position, found["dk"].other) == ((0, 0, min(keys)), row)
            assert all(error.used > 1.2 for error in found.values() if not error.within)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_swapped_cell_shows_in_the_lse_of_random_data(dtype: torch.dtype) -> None:
    right = causal(1000)
    *_, (_, wrong, _) = with_wrong_cell(right, 998)
    lse = errors(on_cpu, right, wrong, dtype, head_dim=32)["lse"]
    assert lse.first_wrong == (0, 0, 998)
    assert lse.used > 10


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32])
@pytest.mark.parametrize("length", [1, 63, 1000, 1024])
def test_right_kernels_are_green(length: int, dtype: torch.dtype) -> None:
    found = sets(on_cpu, causal(length), causal(length), dtype)
    assert {name for name, error in found.items() if error.within} == OUTPUTS
    assert max(error.used for error in found.values()) < 0.5


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_right_kernels_are_green_in_the_interpreter(dtype: torch.dtype) -> None:
    cells = np.random.default_rng(3).random((1, 2, 130, 75)) < 0.3
    cells[..., 5::9, :], cells[..., 3::8] = False, False
    found = sets(in_interpreter, cells, cells, dtype)
    assert max(error.used for error in found.values()) < 0.1


@pytest.mark.parametrize("dtype", HALVES)
def test_zeroed_last_rows_are_red(dtype: torch.dtype) -> None:
    right = torch.from_numpy(causal(1000))
    by_query, by_key = query_probe(right, dtype, 64, 1), key_probe(right, dtype, 64, 2)
    first, second = (on_cpu(right.numpy(), given) for given in (by_query, by_key))
    for output in OUTPUTS:
        call = second if output in ("dk", "dv") else first
        value = getattr(call, output)
        tampered = replace(call, **{output: torch.cat((value[:, :, :-16], torch.zeros_like(value[:, :, -16:])), 2)})
        found = judge_queries(first if call is second else tampered, by_query, right)
        found += judge_keys(tampered if call is second else second, by_key, right)
        assert {error.name for error in found if not error.within} == {output}
        assert {error.position for error in found if not error.within} == {(0, 0, 984)}


def test_grouped_heads_are_summed_and_the_wrong_query_head_is_named() -> None:
    right = np.random.default_rng(1).random((2, 4, 70, 90)) < 0.4
    right[..., 11] = False
    wrong = right.copy()
    wrong[1, 3, 33, 44] ^= True
    visible = torch.from_numpy(right)
    by_query, by_key = (make(visible, torch.bfloat16, 64, 1, key_heads=2) for make in (query_probe, key_probe))
    assert by_query.k.shape == (2, 2, 90, 64)
    assert bool(by_query.k[:, :, 11].isnan().all())
    for cells in (right, wrong):
        first, second = (on_cpu(cells, given) for given in (by_query, by_key))
        found = judge_queries(first, by_query, visible) + judge_keys(second, by_key, visible)
        if cells is right:
            assert all(error.within for error in found)
    named = {error.name: (error.position, error.other) for error in found}
    assert named["out"] == named["dq"] == ((1, 3, 33), 44)
    assert named["dk"] == named["dv"] == ((1, 3, 44), 33)


def test_the_lse_is_told_in_keys() -> None:
    right = causal(1000)
    wrong = right.copy()
    wrong[0, 0, 500, 700] = True
    lse = sets(on_cpu, right, wrong, torch.bfloat16)["lse"]
    assert (lse.position, lse.expected, lse.found) == ((0, 0, 500), "501 visible keys", "502 visible keys")


@pytest.mark.parametrize("output", sorted(OUTPUTS))
def test_nan_and_values_in_rows_that_see_nothing_are_red(output: str) -> None:
    right = causal(20)
    right[..., 4, :], right[..., 19] = False, False
    dead = 4 if output in ("out", "lse", "dq") else 19
    for row, value in ((9, float("nan")), (dead, 1e-3)):

        def tampered(cells: Cells, given: Inputs, row: int = row, value: float = value) -> AttentionResult:
            found = on_cpu(cells, given)
            getattr(found, output)[0, 0, row] = value
            return found

        found = sets(tampered, right, right, torch.float16)
        assert {name for name, error in found.items() if not error.within} == {output}
        assert found[output].position == (0, 0, row)


def test_many_wrong_cells_name_no_single_one() -> None:
    codes = torch.randint(0, 2, (90, 64), generator=torch.Generator().manual_seed(1)).double() * 2 - 1
    seen, weights = torch.zeros(90, dtype=torch.bool), torch.ones(64, dtype=torch.float64)
    assert wrong_member(codes[7] + codes[30], weights, codes, seen) == 7
    assert wrong_member(codes[:40].sum(0), weights, codes, seen) is None
    assert wrong_member(torch.full((64,), float("nan")).double(), weights, codes, seen) is None


def whole(mask: CompiledMask) -> list[tuple[str, Outcome, float | None]]:
    place = places(mask, mask.descriptor(128, 128))[0]
    checks = whole_sets.check_whole_sets(place, torch.bfloat16, 32, (128, 128), "cpu")
    return [(check.name.split()[-1], check.outcome, check.of_budget) for check in checks]


def test_a_long_mask_is_judged_on_rows_and_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    mask = compile_mask("sliding_window", length=1500, size=300)
    found = whole(mask)
    assert [(name, outcome) for name, outcome, _ in found] == [
        (name, Outcome.PASS) for name in ("out", "lse", "dq", "dk", "dv")
    ]
    assert all(used is not None and used < 0.5 for *_, used in found)

    wider = compile_mask("sliding_window", length=1500, size=301)
    monkeypatch.setattr(whole_sets, "called", lambda _, given, gradients: called(wider, given, gradients=gradients))
    assert {outcome for _, outcome, _ in whole(mask)} == {Outcome.FAIL}


@pytest.mark.parametrize("dtype", HALVES)
def test_one_cell_shows_among_two_hundred_thousand(dtype: torch.dtype) -> None:
    keys = 200_000
    codes = torch.randint(0, 2, (keys + 1, 64), generator=torch.Generator().manual_seed(4)).double() * 2 - 1
    right, more = codes[:keys].sum(0), codes.sum(0)
    count = torch.full((1, 1, 2), keys)
    out = torch.stack((right / keys, more / (keys + 1))).to(dtype)[None, None]
    expected = right.expand(1, 1, 2, -1)
    sums = code_sums("out", out, count.double(), expected, count)
    error = judge(sums, lambda error, *_: error)
    assert error.position == (0, 0, 1)
    assert judge(replace(sums, found=expected), lambda error, *_: error).within
