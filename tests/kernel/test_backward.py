"""The portable backward kernels against float64 dense attention, in the interpreter or on the GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from compilemask.descriptor.build import descriptor_from_dense
from compilemask.kernel.backward_configurations import BackwardConfiguration, backward_configuration
from compilemask.kernel.backward_launch import ForwardResult, portable_backward
from compilemask.kernel.configurations import Configuration, Family
from compilemask.kernel.device_tensors import DeviceTensors, to_device
from compilemask.kernel.reference import AttentionResult, dense_attention
from compilemask.measure.error_budget import compare, references

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NARROW = BackwardConfiguration(Configuration(32, 64, 4, 1), Configuration(64, 32, 4, 1))


@dataclass(frozen=True, slots=True)
class Case:
    """Sizes of one call."""

    queries: int
    keys: int
    heads: int = 1
    key_heads: int = 1
    batch: int = 1
    head_dim: int = 16
    head_dim_v: int = 16
    dtype: torch.dtype = torch.float32


CASES = {
    "one token": Case(1, 1),
    "one query": Case(1, 130),
    "odd": Case(63, 111, heads=2, key_heads=2, batch=2),
    "more queries": Case(130, 63, head_dim=32, head_dim_v=32),
    "grouped, D 80, V 48": Case(111, 130, heads=4, key_heads=2, head_dim=80, head_dim_v=48, dtype=torch.float16),
    "multi-query, D 24, V 96": Case(65, 64, heads=3, key_heads=1, head_dim=24, head_dim_v=96),
    "D 192": Case(40, 70, head_dim=192, head_dim_v=128, dtype=torch.float16),
    "D 256": Case(33, 65, head_dim=256, head_dim_v=256, dtype=torch.float16),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Tensors of one call and what they see."""

    q: Tensor
    k: Tensor
    v: Tensor
    dout: Tensor
    dlse: Tensor
    visible: NDArray[np.bool_]

    @property
    def dense(self) -> Tensor:
        return torch.from_numpy(self.visible).to(self.q.device)


def random_mask(shape: tuple[int, int, int, int], random: np.random.Generator) -> NDArray[np.bool_]:
    """Blocks of full, random and empty cells; some queries see nothing, some keys nobody sees."""
    mask = random.random(shape) < 0.4
    for visible in (True, False):
        for _ in range(2):
            top, left = random.integers(0, shape[2]), random.integers(0, shape[3])
            mask[:, random.integers(0, shape[1]), top : top + 90, left : left + 90] = visible
    if shape[2] > 7:
        mask[..., 3::7, :] = False
        mask[..., 2::5] = False
    return mask


def problem(case: Case, seed: int = 0) -> Problem:
    random = np.random.default_rng(seed)
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator).to(case.dtype).to(DEVICE)

    return Problem(
        normal(case.batch, case.heads, case.queries, case.head_dim),
        normal(case.batch, case.key_heads, case.keys, case.head_dim),
        normal(case.batch, case.key_heads, case.keys, case.head_dim_v),
        normal(case.batch, case.heads, case.queries, case.head_dim_v),
        torch.randn((case.batch, case.heads, case.queries), generator=generator).to(DEVICE),
        random_mask((case.batch, case.heads, case.queries, case.keys), random),
    )


def on_device(visible: NDArray[np.bool_], launch: Configuration) -> DeviceTensors:
    return to_device(descriptor_from_dense(visible, launch.block_m, launch.block_n), DEVICE)


def gradients(given: Problem, result: AttentionResult, launch: BackwardConfiguration = NARROW) -> AttentionResult:
    """The kernels' gradients; output and LSE are those of `result`, as a forward pass would have stored them."""
    out, lse = result.out.to(given.q.dtype), result.lse.float()
    saved = ForwardResult(given.q, given.k, given.v, out, lse, given.dout, given.dlse)
    by_key, by_query = on_device(given.visible, launch.keys), on_device(given.visible, launch.queries)
    found = portable_backward(saved, by_key, by_query, given.q.shape[-1] ** -0.5, launch)
    return AttentionResult(out, lse, *found)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_within_the_error_budget(name: str) -> None:
    given = problem(CASES[name])
    against = references(given.q, given.k, given.v, given.dense, dout=given.dout, dlse=given.dlse)
    errors = compare(gradients(given, against.exact), against)
    assert [error.name for error in errors] == ["out", "lse", "dq", "dk", "dv"]
    assert all(error.within for error in errors), errors


def test_the_tile_size_of_each_pass_is_free() -> None:
    given = problem(Case(130, 200, heads=2, key_heads=1, head_dim=32, head_dim_v=32))
    against = references(given.q, given.k, given.v, given.dense, dout=given.dout, dlse=given.dlse)
    for launch in (
        BackwardConfiguration(Configuration(64, 64, 4, 1), Configuration(64, 64, 4, 1)),
        BackwardConfiguration(Configuration(128, 32, 4, 1), Configuration(32, 128, 4, 1)),
    ):
        errors = compare(gradients(given, against.exact, launch), against)
        assert all(error.within for error in errors), errors


def test_garbage_that_nobody_sees_changes_nothing() -> None:
    given = problem(Case(70, 111, heads=2, key_heads=1))
    unseen_keys = ~given.dense.any(2).any(1)
    empty_rows = ~given.dense.any(3)
    assert bool(unseen_keys.any())
    assert bool(empty_rows.any())
    exact = dense_attention(given.q, given.k, given.v, given.dense, dout=given.dout, dlse=given.dlse)
    clean = gradients(given, exact)
    given.k[unseen_keys[:, None]] = float("nan")
    given.v[unseen_keys[:, None]] = float("inf")
    given.q[empty_rows] = float("inf")
    given.dout[empty_rows] = float("nan")
    given.dlse[empty_rows] = float("nan")
    dirty = gradients(given, exact)
    for name in ("dq", "dk", "dv"):
        before, after = getattr(clean, name), getattr(dirty, name)
        assert torch.equal(before, after), name
    assert dirty.dq is not None
    assert dirty.dk is not None
    assert not dirty.dq[empty_rows].any()
    assert not dirty.dk[unseen_keys[:, None]].any()


def test_any_strides_are_read_where_they_are() -> None:
    given = problem(Case(33, 65, heads=2, key_heads=2))
    against = references(given.q, given.k, given.v, given.dense, dout=given.dout, dlse=given.dlse)

    def strided(x: Tensor) -> Tensor:
        wide = torch.full((*x.shape[:2], x.shape[3], 2 * x.shape[2]), float("nan"), dtype=x.dtype, device=x.device)
        view = wide[..., ::2].mT
        view.copy_(x)
        return view

    views = Problem(
        strided(given.q), strided(given.k), strided(given.v), strided(given.dout), given.dlse, given.visible
    )
    errors = compare(gradients(views, against.exact), against)
    assert all(error.within for error in errors), errors


def test_two_runs_give_the_same_bits() -> None:
    given = problem(Case(130, 130, heads=2, key_heads=1, dtype=torch.float16))
    exact = dense_attention(given.q, given.k, given.v, given.dense, dout=given.dout, dlse=given.dlse)
    first, second = gradients(given, exact), gradients(given, exact)
    for name in ("dq", "dk", "dv"):
        assert torch.equal(getattr(first, name), getattr(second, name)), name


def test_no_gradient_through_the_lse_is_zero_gradient() -> None:
    given = problem(Case(33, 33))
    exact = dense_attention(given.q, given.k, given.v, given.dense, dout=given.dout)
    out, lse = exact.out.float(), exact.lse.float()
    tables = on_device(given.visible, NARROW.keys), on_device(given.visible, NARROW.queries)
    without, with_zeros = (
        portable_backward(ForwardResult(given.q, given.k, given.v, out, lse, given.dout, dlse), *tables, 0.25, NARROW)
        for dlse in (None, torch.zeros_like(lse))
    )
    for a, b in zip(without, with_zeros, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_every_width_has_a_configuration(family: Family, dtype: torch.dtype) -> None:
    for head_dim in (1, 16, 40, 64, 80, 96, 128, 192, 256):
        configuration = backward_configuration(family, dtype, head_dim, 16)
        for launch in (configuration.keys, configuration.queries):
            assert launch.block_n % 32 == 0
            assert launch.block_m & (launch.block_m - 1) == 0
