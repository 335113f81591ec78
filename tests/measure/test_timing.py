"""What timing refuses, and how its figures follow from the milliseconds."""

from __future__ import annotations

import pytest
import torch

from compilemask.errors import UnavailableError, UsageError
from compilemask.measure import timing
from compilemask.measure.report import Check, Outcome, ValidationReport
from compilemask.measure.timing import Setting, time_mask
from compilemask.pipeline import compile as compile_mask

CAUSAL = compile_mask("causal", params={"length": 100})


def proof(outcome: Outcome) -> ValidationReport:
    return ValidationReport("causal", 100, 100, "here", (Check("intervals", outcome, "all"),), (), 0.0)


def test_without_a_gpu_there_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "gpu_name", lambda: None)

    with pytest.raises(UnavailableError, match="no CUDA GPU"):
        time_mask(CAUSAL, Setting(), proof=proof(Outcome.PASS))


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.SKIPPED])
def test_what_is_not_proved_is_not_timed(monkeypatch: pytest.MonkeyPatch, outcome: Outcome) -> None:
    monkeypatch.setattr(timing, "gpu_name", lambda: "a GPU")

    with pytest.raises(UsageError, match="not timed while its validation is red"):
        time_mask(CAUSAL, Setting(), proof=proof(outcome))


def test_figures_follow_from_the_milliseconds() -> None:
    setting = Setting(batch=2, heads=4, head_dim=64)
    candidate = timing._Candidate("peer", lambda: None, 2 * 4 * 128 * 128)

    entry = timing._entry(candidate, [1.0, 2.0, 2.0, 2.0, 3.0], 4.0, CAUSAL, setting)

    flops = 4 * 2 * 4 * 64
    assert (entry.forward_ms, entry.ratio) == (2.0, 0.5)
    assert entry.spread == pytest.approx((2.2 - 1.8) / 2)
    assert entry.useful_tflops == pytest.approx(flops * 5050 / 2e-3 / 1e12)
    assert entry.executed_tflops == pytest.approx(flops * 128 * 128 / 2e-3 / 1e12)


def test_a_mask_by_sample_and_head_says_how_many_there_are() -> None:
    batched = compile_mask("document_batch")

    assert timing._fitted(batched, Setting(batch=1, heads=8)).batch == batched.batch
    assert timing._fitted(CAUSAL, Setting(batch=3, heads=8)) == Setting(batch=3, heads=8)


def test_cells_are_counted_for_every_sample_and_head() -> None:
    heads = compile_mask("local_global_heads")
    tiles = [heads.tiles(head=head).visited for head in range(heads.heads)]
    assert len(set(tiles)) > 1

    cells = timing._cells_of_tiles(heads, torch.empty(3, heads.heads, 1, 1))

    assert cells == 3 * sum(tiles) * 128 * 128


def test_a_mask_with_an_order_is_timed_in_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "randn", lambda *shape, **_: torch.zeros(*shape))
    monkeypatch.setattr(torch, "Generator", lambda **_: torch.default_generator)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    for name in ("_flex", "_sdpa"):
        monkeypatch.setattr(timing, name, lambda *_: timing._Candidate("peer", lambda: None, None))
    small = Setting(heads=1, head_dim=16, dtype="float32")
    clear = compile_mask("clear", text=4, height=8, width=20, radius=3)

    for mask, expected in ((clear, [timing.OURS, timing.STORED]), (CAUSAL, [timing.OURS])):
        candidates, failures = timing._prepared(mask, small)
        assert [one.what for one in candidates] == [*expected, "peer", "peer"]
        assert not failures
