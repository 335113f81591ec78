"""The units of the integer sums of dQ: no partial sum may overflow, and rounding must stay below that of 16 bits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from compilemask.descriptor.build import descriptor_from_dense
from compilemask.kernel.device_tensors import to_device, variant_strides
from compilemask.kernel.hopper_backward_terms import finish_dq, key_bounds, query_terms_with_units
from compilemask.kernel.reference import dense_attention

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
QUERIES, KEYS, WIDTH, WIDTH_V, PADDED = 70, 130, 24, 40, 128


def bounds_of(key: Tensor, value: Tensor) -> Tensor:
    batch, heads, keys, _ = key.shape
    tiles = -(-keys // 128)
    bounds = torch.full((batch, heads, tiles, 2), float("nan"), device=DEVICE)
    key_bounds[(batch * heads * tiles,)](
        key, value, bounds, *key.stride(), *value.stride(), keys, heads, tiles,
        HEAD_DIM=WIDTH, HEAD_DIM_V=WIDTH_V, BLOCK_D=32, BLOCK_DV=64, BLOCK_N=128,
    )  # fmt: skip
    return bounds


def terms_of(
    out: Tensor, dout: Tensor, lse: Tensor, dlse: Tensor, key: Tensor, value: Tensor, visible: Tensor
) -> Tensor:
    batch, heads, queries, _ = out.shape
    padded = -(-queries // 128) * 128
    bounds = bounds_of(key, value)
    listed = to_device(descriptor_from_dense(visible.cpu().numpy(), 128, 128), DEVICE)
    lists = listed.by_query
    terms = torch.full((batch * heads, 4, padded), float("nan"), device=DEVICE)
    query_terms_with_units[(batch * heads * padded // 64,)](
        out, dout, lse, dlse, bounds, terms, listed.variant, lists.full_offsets, lists.full_runs,
        lists.partial_offsets, lists.partial_tiles, *out.stride(), *dout.stride(), *dlse.stride(),
        *bounds.stride()[:2], *variant_strides(listed), lists.tiles, queries, padded, heads, heads // key.shape[1],
        padded // 64, HEAD_DIM_V=WIDTH_V, BLOCK_DV=64, BLOCK_M=64, LISTED_M=128, HAS_DLSE=True,
    )  # fmt: skip
    return terms.reshape(batch, heads, 4, padded)


def in_store_order(sums: Tensor) -> Tensor:
    """Rows and columns as the kernel's consumers leave them."""
    rows = [8 * eight + row for eight in range(PADDED // 8) for row in (0, 4, 2, 6, 1, 5, 3, 7)]
    columns = [start + 8 * half + column for start in range(0, 32, 16) for column in (0, 2, 4, 6) for half in (0, 1)]
    return sums[:, :, rows][..., [c + one for c in columns for one in (0, 1)]].contiguous()


def normal(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def test_bounds_are_the_largest_key_component_and_the_longest_value_of_a_tile() -> None:
    key, value = normal(2, 3, KEYS, WIDTH, seed=0), normal(2, 3, KEYS, WIDTH_V, seed=1)
    found = bounds_of(key, value)
    for tile in (0, 1):
        rows = slice(128 * tile, 128 * tile + 128)
        torch.testing.assert_close(found[:, :, tile, 0], key[:, :, rows].abs().amax((2, 3)))
        torch.testing.assert_close(found[:, :, tile, 1], value[:, :, rows].norm(dim=3).amax(2))
    value[1, 2, 5, 7] = float("nan")
    assert bounds_of(key, value)[1, 2, :, 1].isnan().tolist() == [True, False]


@pytest.mark.parametrize("adverse", [False, True])
def test_partial_sums_fit_and_rounding_is_small(adverse: bool) -> None:
    q, k, v = (
        normal(1, 4, QUERIES, WIDTH, seed=2),
        normal(1, 2, KEYS, WIDTH, seed=3),
        normal(1, 2, KEYS, WIDTH_V, seed=4),
    )
    dout, dlse = normal(1, 4, QUERIES, WIDTH_V, seed=5), normal(1, 4, QUERIES, seed=6)
    visible = torch.rand(1, 1, QUERIES, KEYS, generator=torch.Generator().manual_seed(7)).to(DEVICE) < 0.5
    visible[:, :, 3] = False
    if adverse:  # two opposite values that every dO points along, and keys that do not tell them apart
        k[:, :, 1::2], k[:, :, ::2] = k[:, :, :1], k[:, :, :1]
        v[:, :, ::2], v[:, :, 1::2] = v[:, :, :1], -v[:, :, :1]
        dout[:] = 1000 * v[:, :1, :1]
    exact = dense_attention(q, k, v, visible, dout=dout, dlse=dlse)
    assert exact.dq is not None
    terms = terms_of(exact.out.float(), dout, exact.lse.float(), dlse, k, v, visible)
    lse, delta, unit = terms[:, :, 0, :QUERIES], terms[:, :, 1, :QUERIES], terms[:, :, 2, :QUERIES].double()
    assert bool((lse[:, :, 3] == float("inf")).all())
    assert bool((terms[:, :, 0, QUERIES:] == float("inf")).all())
    key, value = (x.repeat_interleave(2, 1).double() for x in (k, v))
    weights = torch.where(
        visible, torch.exp2(q.double() @ key.mT * WIDTH**-0.5 / 0.6931471805599453 - lse[..., None]), 0
    )
    dscores = weights * (dout.double() @ value.mT - delta[..., None].double())
    largest = (dscores.abs() @ key.abs()).amax(-1) * unit
    assert float(largest.max()) < 2**31
    sums = torch.zeros(1, 4, PADDED, 32, dtype=torch.int32, device=DEVICE)
    for first in range(0, KEYS, 32):
        share = dscores[..., first : first + 32] @ key[:, :, first : first + 32] * unit[..., None]
        sums[:, :, :QUERIES, :WIDTH] += share.round().to(torch.int32)
    dq = torch.full_like(q, float("nan"))
    sums = in_store_order(sums)
    finish_dq[(8,)](sums, terms, dq, QUERIES, PADDED, 2, WIDTH**-0.5, HEAD_DIM=WIDTH, BLOCK_D=32, BLOCK_M=64)
    unrounded = dscores @ key * WIDTH**-0.5
    half_units = 5 * 0.5 * WIDTH**-0.5 / unit[..., None]
    assert bool(((dq.double() - unrounded).abs() <= half_units + 1e-6 * unrounded.abs()).all())
    assert float(half_units.max() / unrounded.abs().max()) < 1e-4
    assert not dq[:, :, 3].any()


def test_a_nan_in_a_seen_value_comes_out() -> None:
    k, v = normal(1, 1, KEYS, WIDTH, seed=8), normal(1, 1, KEYS, WIDTH_V, seed=9)
    v[0, 0, 0, 0] = float("nan")
    out = dout = normal(1, 1, QUERIES, WIDTH_V, seed=10)
    lse = dlse = torch.zeros(1, 1, QUERIES, device=DEVICE)
    terms = terms_of(out, dout, lse, dlse, k, v, torch.ones(1, 1, QUERIES, KEYS, dtype=torch.bool))
    sums = torch.zeros(1, 1, PADDED, 32, dtype=torch.int32, device=DEVICE)
    dq = torch.zeros(1, 1, QUERIES, WIDTH, device=DEVICE)
    finish_dq[(2,)](sums, terms, dq, QUERIES, PADDED, 2, 1.0, HEAD_DIM=WIDTH, BLOCK_D=32, BLOCK_M=64)
    assert bool(dq.isnan().all())


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 1e6])
def test_keys_of_another_document_have_no_part_in_a_unit(odd: float) -> None:
    documents = torch.arange(700) // 256
    visible = (documents[:, None] == documents)[None, None]
    visible &= torch.rand(visible.shape, generator=torch.Generator().manual_seed(11)) < 0.999
    k, v = normal(1, 1, 700, WIDTH, seed=12), normal(1, 1, 700, WIDTH_V, seed=13)
    out = dout = normal(1, 1, 700, WIDTH_V, seed=14)
    lse = dlse = torch.zeros(1, 1, 700, device=DEVICE)
    before = terms_of(out, dout, lse, dlse, k, v, visible)[0, 0, 2, :700]
    k[0, 0, 300, 3] = odd
    after = terms_of(out, dout, lse, dlse, k, v, visible)[0, 0, 2, :700]
    other = (documents != 1).to(DEVICE)
    assert torch.equal(after[other], before[other])
    inside = after[~other]
    assert bool((inside < before[~other] / 1000).all()) if odd == 1e6 else bool((inside.isnan() | (inside == 0)).all())
