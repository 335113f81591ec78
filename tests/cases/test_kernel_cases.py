"""Cases about kernels that need no GPU: exact float32, a position bias, lengths as data, tables of one mask."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import compilemask
from compilemask import pipeline
from compilemask.descriptor.registry import find
from compilemask.errors import UsageError
from compilemask.kernel.prepared import handle_of, prepared
from compilemask.kernel.reference import AttentionResult
from compilemask.measure.compile_targets import compile_targets
from compilemask.measure.error_budget import compare, references
from tests.cases.numeric import Inputs, attention, normal

Array = NDArray[np.float64]


SHARED_BYTES = {"sm_80": 166_912, "sm_90": 232_448, "sm_100": 232_448, "sm_120": 101_376}
"""What one block of threads may use; from Ampere on no GPU has less than the last."""

# ---------------------------------------------------------------- float32 is float32


def _ten_bits(x: torch.Tensor) -> torch.Tensor:
    """Rounded to the 10 bits that a tensor core keeps of a float32 where nobody said otherwise."""
    bits = x.contiguous().view(torch.int32)
    return ((bits + 0x1000) & -0x2000).view(torch.float32)


@pytest.mark.parametrize(("length", "width"), [(48, 32), (1, 16), (37, 80), (131, 64)])
def test_float32_is_exact_and_ten_bits_are_told_apart(length: int, width: int) -> None:
    inputs = normal(77 + length, length, length, width)
    q, k, v = (torch.from_numpy(array.astype(np.float32))[None] for array in (inputs.q, inputs.k, inputs.v))
    mask = pipeline.compile("causal", length=length)
    visible = torch.from_numpy(mask.dense())[None, None]
    budget = references(q, k, v, visible)

    exact = AttentionResult(*compilemask.attention(q, k, v, mask, return_lse=True))
    short_q, short_k, short_v = (_ten_bits(x) for x in (q, k, v))
    rounded = AttentionResult(*compilemask.attention(short_q, short_k, short_v, mask, return_lse=True))
    off = [float((one.out.double() - budget.exact.out).abs().max()) for one in (exact, rounded)]
    assert off[0] < 2e-6
    assert 1e-5 < off[1] < 1e-2
    assert all(error.within for error in compare(exact, budget))
    assert not compare(rounded, budget)[0].within


@pytest.mark.parametrize(("target", "head_dim"), [("sm_90", 64), ("sm_120", 256)])
def test_float32_code_multiplies_in_float32_and_fits(target: str, head_dim: int) -> None:
    causal = pipeline.compile("causal", length=512)
    report = compile_targets(causal, (target,), emit=("ptx",), head_dim=head_dim, dtype="float32")
    texts = {one.kernel: listing.text for one in report.targets for listing in one.listings}
    assert len(texts) >= 4
    assert not [name for name, text in texts.items() if "tf32" in text]
    assert all("fma.rn.f32" in text for name, text in texts.items() if "attention" in name)
    assert all(one.shared_bytes <= SHARED_BYTES[target] for one in report.targets)


# ---------------------------------------------------------------- a position bias at odd lengths


def _biased(inputs: Inputs, bias: float) -> tuple[Array, Array, float]:
    """q and k with two more columns that add `bias * (query - key)` to the scaled scores, and the scale to give."""
    scale = inputs.q.shape[-1] ** -0.5
    heads, length = inputs.q.shape[:2]
    place = np.broadcast_to(np.arange(length, dtype=np.float64), (heads, length))
    one = np.ones_like(place)
    q = np.concatenate((inputs.q, np.stack((bias * place, -bias * one), -1) / scale), -1)
    return q, np.concatenate((inputs.k, np.stack((one, place), -1)), -1), scale


def _with_bias(inputs: Inputs, bias: float) -> tuple[Array, Array, Array, Array]:
    """Output, dQ, dK and dV of causal attention with the bias, written out row by row."""
    heads, length, width = inputs.q.shape
    out, dq, dk, dv = (np.zeros_like(x) for x in (inputs.v, inputs.q, inputs.k, inputs.v))
    for head, row in np.ndindex(heads, length):
        keys, values = inputs.k[head, : row + 1], inputs.v[head, : row + 1]
        scores = keys @ inputs.q[head, row] * width**-0.5 + bias * (row - np.arange(row + 1))
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        out[head, row] = weights @ values
        change = values @ inputs.out_gradient[head, row]
        by_score = weights * (change - weights @ change) * width**-0.5
        dq[head, row] = by_score @ keys
        dk[head, : row + 1] += by_score[:, None] * inputs.q[head, row]
        dv[head, : row + 1] += weights[:, None] * inputs.out_gradient[head, row]
    return out, dq, dk, dv


@pytest.mark.parametrize("length", [1, 15, 16, 17, 33, 129, 200])
def test_a_bias_that_grows_with_distance_has_finite_gradients(length: int) -> None:
    inputs = normal(69 + length, length, length, 16)
    q, k, scale = _biased(inputs, 0.5)
    tq, tk, tv = (torch.from_numpy(array)[None].requires_grad_() for array in (q, k, inputs.v))
    out = compilemask.attention(tq, tk, tv, pipeline.compile("causal", length=length), scale=scale)
    gradients = torch.autograd.grad(out, (tq, tk, tv), torch.from_numpy(inputs.out_gradient)[None])

    expected = _with_bias(inputs, 0.5)
    found = [out.detach(), gradients[0][..., :16], gradients[1][..., :16], gradients[2]]
    for got, right in zip(found, expected, strict=True):
        assert torch.isfinite(got).all()
        np.testing.assert_allclose(got[0].numpy(), right, rtol=1e-9, atol=1e-10)


def test_the_backward_pass_may_come_when_the_mask_is_gone() -> None:
    inputs = normal(69, 9, 9, 16)
    q, k, v = (torch.from_numpy(array)[None].requires_grad_() for array in (inputs.q, inputs.k, inputs.v))
    out = compilemask.attention(q, k, v, pipeline.compile("causal", length=9))
    gc.collect()
    (gradient,) = torch.autograd.grad(out.sum(), q)
    assert torch.isfinite(gradient).all()


# ---------------------------------------------------------------- lengths, documents and batches are data

LENGTHS = (320, 256, 192, 128, 127, 1, 4097, 65_537)
COMPILING = """
import json
from compilemask.measure.compile_targets_launches import launches
from compilemask.measure.compile_targets_recording import recording
from compilemask.measure.compile_targets_request import CompileRequest

codes = {}
with recording(80) as found:
    for length in LENGTHS:
        for batch in (1, 3):
            ways, none = ("forward", "backward"), False
            request = CompileRequest(
                ("sm_80",), (), ways, length, length, (1, 1), none, none, batch, 4, 4, 64, 64, "float16"
            )
            for launch in launches(80, request):
                launch.call()
for kernel in found.kernels:
    codes.setdefault(kernel.kernel, set()).add(kernel.stages["ptx"])
print(json.dumps({name: len(texts) for name, texts in codes.items()}))
"""


def test_every_length_and_batch_runs_the_same_machine_code() -> None:
    # another process: here Triton interprets, so that kernels run without a GPU
    settings = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    text = COMPILING.replace("LENGTHS", repr(LENGTHS))
    done = subprocess.run([sys.executable, "-c", text], env=settings, capture_output=True, text=True, check=True)

    codes = json.loads(done.stdout)
    assert len(codes) == 4
    assert codes == dict.fromkeys(codes, 1)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_map_grows_with_the_length(length: int) -> None:
    compiled = pipeline.compile("chunked_local", length=length, chunk=50, left=[0])
    tiles = compiled.tiles(128, 128)
    rows = -(-length // 128)
    assert compiled.rows.runs == length
    assert tiles.visited <= 3 * rows
    assert tiles.patterns.shape[0] <= 3 * 25 + 3  # tiles begin at 25 different places of a chunk of 50


# Masks of which a row sees a bounded number of keys, or a bounded number of runs of tiles, at n tokens.
GROWTH: dict[str, Callable[[int], dict[str, object]]] = {
    "chunked_local": lambda n: {"length": n, "chunk": 50, "left": [0]},
    "document_causal": lambda n: {"documents": [50] * (n // 50)},
    "sliding_window": lambda n: {"length": n, "size": 300},
    "document_sinks": lambda n: {"documents": [400] * (n // 400), "sinks": 4, "size": 100},
    "causal": lambda n: {"length": n},
    "prefix_tree": lambda n: {"lengths": [n // 2, *[50] * (n // 100)], "parents": [-1, *[0] * (n // 100)]},
}


def _costs(mask: str, length: int) -> dict[str, int]:
    """What compiling counts: runs, entries of the tile lists, and the bytes that are kept of each stage."""
    compiled = pipeline.compile(mask, params=GROWTH[mask](length))
    rows, tiles, descriptor = compiled.rows, compiled.tiles(128, 128), compiled.descriptor(128, 128)
    lists = (descriptor.by_query.full_runs, descriptor.by_query.partial_tiles)
    return {
        "runs": rows.runs,
        "bytes of runs": rows.offsets.nbytes + rows.starts.nbytes + rows.ends.nbytes,
        "runs of full tiles": len(tiles.full_runs),
        "partial tiles": tiles.partial_tiles.size,
        "entries of the descriptor": sum(len(one) for one in lists),
        "bytes of the descriptor": descriptor.nbytes,
    }


@pytest.mark.parametrize("mask", GROWTH)
def test_what_is_made_of_a_mask_grows_with_its_length_only(mask: str) -> None:
    small, large = (_costs(mask, length) for length in (12_800, 16 * 12_800))
    for what, count in large.items():
        assert count <= 17 * small[what], what  # what is quadratic would grow 256 times


# ---------------------------------------------------------------- shared memory


@pytest.mark.parametrize(
    ("head_dim", "targets"),
    [(64, ("sm_80", "sm_120")), (128, ("sm_80", "sm_120")), (256, ("sm_80", "sm_90", "sm_100", "sm_120"))],
)
def test_the_tiles_of_every_head_dim_fit_into_shared_memory(head_dim: int, targets: tuple[str, ...]) -> None:
    report = compile_targets(pipeline.compile("causal", length=512), targets, emit=(), head_dim=head_dim)
    assert not [one.error for one in report.targets if one.error]
    assert {one.target for one in report.targets} == set(targets)
    for one in report.targets:
        assert one.shared_bytes <= SHARED_BYTES[one.target], one.kernel


def test_a_head_dim_that_cannot_run_is_refused_with_both_numbers() -> None:
    q = torch.zeros(1, 1, 9, 512)
    with pytest.raises(UsageError, match="from 1 to 256, but has 512"):
        compilemask.attention(q, q, q, pipeline.compile("causal", length=9))


# ---------------------------------------------------------------- a mask owns its tables, on every device


@pytest.mark.parametrize("seed", range(4))
def test_tables_edited_afterwards_change_nothing(seed: int) -> None:
    random = Random(seed)
    first, second = random.randint(1, 60), random.randint(1, 60)
    total = first + second
    documents = np.array([first, second])
    compiled = pipeline.compile("document_full", documents=documents)
    documents[:] = total - 1, 1  # before anything but the intervals has been made
    old = np.zeros((total, total), bool)
    old[:first, :first] = old[first:, first:] = True
    for tile in (8, 12, 32):
        np.testing.assert_array_equal(compiled.tiles(tile, tile).to_dense(), old)
    inputs = normal(90 + seed, total, total, 8)
    q, k, v = (torch.from_numpy(array)[None] for array in (inputs.q, inputs.k, inputs.v))
    out = compilemask.attention(q, k, v, compiled)
    np.testing.assert_allclose(out[0].numpy(), attention(inputs, old).out, rtol=1e-9, atol=1e-11)


def test_every_device_has_tables_of_its_own() -> None:
    compiled = pipeline.compile("document_full", documents=[16, 16])
    kept = prepared(handle_of(compiled))
    assert find(handle_of(compiled)) is compiled
    devices = [torch.device("cpu"), torch.device("meta")]
    tables = [kept.tensors(32, 32, device) for device in devices]
    for table, device in zip(tables, devices, strict=True):
        found = (table.variant, table.patterns, table.by_query.partial_tiles, table.by_key.full_runs)
        assert {tensor.device for tensor in found} == {device}
        assert kept.tensors(32, 32, device) is table
