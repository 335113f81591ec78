"""How fast the kernel is on this GPU, beside FlexAttention and SDPA in the same run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compilemask.errors import UnavailableError, UsageError
from compilemask.measure.machine import gpu_name
from compilemask.measure.progress import Progress, silent
from compilemask.measure.report import TimingEntry, TimingReport, ValidationReport

if TYPE_CHECKING:
    from torch import Tensor

    from compilemask.pipeline import CompiledMask

ROUNDS = 30
WARM_UPS = 3
CACHE_BYTES = 256 << 20  # written between calls, so that no call finds the inputs of the last one in L2
DENSE_LIMIT = 2**31  # cells of a dense mask that SDPA may get
OURS = "compilemask"
STORED = "compilemask, tokens in its order"  # as `CompiledMask.stored` wants them
NO_GPU = "no CUDA GPU on this machine to time on; `compilemask compile` needs none"


@dataclass(frozen=True, slots=True)
class Setting:
    """Sizes of q, k and v; the lengths are the mask's."""

    batch: int = 1
    heads: int = 16
    head_dim: int = 128
    dtype: str = "bfloat16"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One implementation: a call without arguments, and the score cells that it computes (None: unknown)."""

    what: str
    call: Callable[[], object]
    cells: int | None


def time_mask(
    compiled: CompiledMask, setting: Setting, *, proof: ValidationReport, progress: Progress = silent
) -> TimingReport:
    """Time the forward pass round robin with CUDA events: median and spread of 30 rounds after a warm-up.

    `proof` is the validation of the same mask. Useful TFLOP/s = 4 * batch * heads * head_dim * visible cells / time.
    A mask with a token order is timed twice: tokens moved inside the call, and tensors that are in its order already.

    Raises:
        UnavailableError: there is no CUDA GPU.
        UsageError: the validation is red, or the setting does not fit the mask.
    """
    gpu = gpu_name()
    if gpu is None:
        raise UnavailableError(NO_GPU)
    if not proof.passed:
        raise UsageError(f"{compiled.name} is not timed while its validation is red: a wrong kernel has no speed")
    setting = _fitted(compiled, setting)
    progress(0, ROUNDS, "preparing")
    candidates, failures = _prepared(compiled, setting)
    times = _measured(candidates, progress)
    ours = float(np.median(times[0]))
    entries = [
        _entry(candidate, samples, ours, compiled, setting)
        for candidate, samples in zip(candidates, times, strict=True)
    ]
    lengths = compiled.query_length, compiled.key_length
    sizes = setting.batch, setting.heads, setting.head_dim, setting.dtype
    return TimingReport(compiled.name, gpu, *sizes, *lengths, (*entries, *failures))


def _fitted(compiled: CompiledMask, setting: Setting) -> Setting:
    """The setting with the samples and heads that the mask fixes."""
    batch = compiled.batch if compiled.batch > 1 else setting.batch
    heads = compiled.heads if compiled.heads > 1 else setting.heads
    return Setting(batch, heads, setting.head_dim, setting.dtype)


def _prepared(compiled: CompiledMask, setting: Setting) -> tuple[list[_Candidate], list[TimingEntry]]:
    """What runs, ours first, and one entry for each that does not, with the reason."""
    import torch

    dtype = getattr(torch, setting.dtype)
    generator = torch.Generator(device="cuda").manual_seed(0)
    q, k, v = (
        torch.randn(
            setting.batch, setting.heads, length, setting.head_dim, device="cuda", generator=generator, dtype=dtype
        )
        for length in (compiled.query_length, compiled.key_length, compiled.key_length)
    )
    candidates: list[_Candidate] = []
    failures: list[TimingEntry] = []
    makers = [(OURS, _ours), ("FlexAttention", _flex), ("SDPA", _sdpa)]
    if compiled.order.moves:
        makers.insert(1, (STORED, _stored))
    for name, make in makers:
        try:
            candidate = make(compiled, q, k, v)
            for _ in range(WARM_UPS):
                candidate.call()
            torch.cuda.synchronize()
            candidates.append(candidate)
        except Exception as error:
            if name == OURS:
                raise
            reason = str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
            failures.append(TimingEntry(name, None, None, None, None, None, f"does not run: {reason}"))
    return candidates, failures


def _ours(compiled: CompiledMask, q: Tensor, k: Tensor, v: Tensor) -> _Candidate:
    from compilemask.kernel.api import attention

    return _Candidate(OURS, lambda: attention(q, k, v, compiled), _cells_of_tiles(compiled, q))


def _stored(compiled: CompiledMask, q: Tensor, k: Tensor, v: Tensor) -> _Candidate:
    from compilemask.kernel.api import attention

    return _Candidate(STORED, lambda: attention(q, k, v, compiled.stored), _cells_of_tiles(compiled, q))


def _cells_of_tiles(compiled: CompiledMask, q: Tensor) -> int:
    """Cells of the visited tiles of all samples and heads of q."""
    batch, heads = q.shape[:2]
    numbers = np.broadcast_to(compiled.variant, (batch, heads)).reshape(-1).tolist()
    return sum(compiled.tiles_of(number).visited for number in numbers) * 128 * 128


def _flex(compiled: CompiledMask, q: Tensor, k: Tensor, v: Tensor) -> _Candidate:
    import torch
    from torch.nn.attention.flex_attention import flex_attention

    from compilemask.measure.flex_mask import BLOCK, block_mask
    from compilemask.tiles import build_tile_map

    if compiled.batch > 1 or compiled.heads > 1:
        raise UsageError("masks that differ by sample or head are not handed over to it")
    mask = block_mask(compiled, "cuda")
    call = torch.compile(flex_attention, dynamic=False)
    visited = build_tile_map(compiled.rows, BLOCK, BLOCK).visited
    cells = q.shape[0] * q.shape[1] * visited * BLOCK * BLOCK
    return _Candidate("FlexAttention", lambda: call(q, k, v, block_mask=mask), cells)


def _sdpa(compiled: CompiledMask, q: Tensor, k: Tensor, v: Tensor) -> _Candidate:
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attend

    queries, keys = compiled.query_length, compiled.key_length
    ends = np.arange(1, queries + 1)
    rows = compiled.rows
    plain = compiled.batch * compiled.heads == 1 and rows.runs == rows.rows
    if plain and queries == keys and not rows.starts.any() and np.array_equal(rows.ends, ends):
        return _Candidate("SDPA, is_causal", lambda: attend(q, k, v, is_causal=True), None)
    if queries * keys > DENSE_LIMIT:
        raise UsageError(f"a dense mask of {queries:,} x {keys:,} is too large")
    dense = [[torch.from_numpy(compiled.dense(b, h)) for h in range(compiled.heads)] for b in range(compiled.batch)]
    mask = torch.stack([torch.stack(heads) for heads in dense]).cuda()
    return _Candidate(
        "SDPA, dense mask", lambda: attend(q, k, v, attn_mask=mask), q.shape[0] * q.shape[1] * queries * keys
    )


def _measured(candidates: list[_Candidate], progress: Progress) -> list[list[float]]:
    """Milliseconds of every round, per candidate."""
    import torch

    flush = torch.empty(CACHE_BYTES, dtype=torch.int8, device="cuda")
    times: list[list[float]] = [[] for _ in candidates]
    for done in range(ROUNDS):
        progress(done, ROUNDS, "timing")
        for candidate, samples in zip(candidates, times, strict=True):
            flush.zero_()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
            start.record()
            candidate.call()
            end.record()
            end.synchronize()
            samples.append(start.elapsed_time(end))
    return times


def _entry(
    candidate: _Candidate, samples: list[float], ours: float, compiled: CompiledMask, setting: Setting
) -> TimingEntry:
    low, middle, high = (float(value) for value in np.percentile(samples, (20, 50, 80)))
    per_cell = 4 * setting.head_dim
    visible = sum(
        compiled.rows_of(b % compiled.batch, h % compiled.heads).visible
        for b in range(setting.batch)
        for h in range(setting.heads)
    )
    executed = None
    if candidate.cells is not None:
        executed = per_cell * candidate.cells / middle / 1e9
    useful = per_cell * visible / middle / 1e9
    return TimingEntry(candidate.what, middle, (high - low) / middle, useful, executed, middle / ours)
