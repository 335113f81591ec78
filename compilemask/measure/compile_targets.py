"""Compiles the kernels of a mask for GPUs that need not be there, and says what came out.

The work is done in a child process: a compiler that crashes takes the child with it, and here becomes one line. After
a crash a new child goes on with the remaining targets.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from compilemask.errors import UsageError
from compilemask.measure.compile_targets_request import CompileRequest, failed_report, report_from_json
from compilemask.measure.progress import Progress, silent
from compilemask.measure.report import CompileReport, TargetReport

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_103", "sm_120")
GPUS = {
    "a100": "sm_80",
    "h100": "sm_90",
    "h200": "sm_90",
    "gh200": "sm_90",
    "b200": "sm_100",
    "gb200": "sm_100",
    "b300": "sm_103",
    "gb300": "sm_103",
    "rtx 5090": "sm_120",
}
"""The target of each GPU that people name (compute capabilities: developer.nvidia.com/cuda-gpus)."""
LISTINGS = ("ttir", "ttgir", "llir", "ptx", "sass")
DIRECTIONS = ("forward", "backward")
DTYPES = ("bfloat16", "float16", "float32")
SECONDS_PER_TARGET = 600.0
LARGEST_HEAD_DIM = 256
PATIENCE_SECONDS = 5.0  # for a child that has answered everything to end by itself
SECONDS_OF_SILENCE = 0.1  # after which somebody who wants to stop is asked for
_DONE = "done "
_COMMAND = (sys.executable, "-m", "compilemask.measure.compile_targets_child")


def compile_targets(
    compiled: CompiledMask,
    targets: Sequence[str] = (),
    *,
    emit: Sequence[str] = (),
    directions: Sequence[str] = DIRECTIONS,
    progress: Progress = silent,
    heads: int = 16,
    key_heads: int | None = None,
    head_dim: int = 128,
    head_dim_v: int | None = None,
    dtype: str = "bfloat16",
) -> CompileReport:
    """Compile the kernels of `compiled`, forward and backward, for each of `targets` (default: all of TARGETS).

    A target may be named by a GPU (GPUS). `emit` names the texts to keep (LISTINGS). One TargetReport per target and
    kernel, in the order of the targets; a target that fails has `error` set. Raises UsageError for an unknown target,
    listing, direction or dtype and for a mask of no cells, and Stopped out of `progress`.
    """
    named = tuple(dict.fromkeys(target_named(name) for name in targets))
    wanted = (named or TARGETS, tuple(emit), tuple(directions))
    request = _request(compiled, *wanted, heads, key_heads, head_dim, head_dim_v, dtype)
    return CompileReport(compiled.name, tuple(_reports(request, progress)))


def target_named(name: str) -> str:
    """The target that a user means by its own name or that of a GPU, however spelt: `H100`, `rtx-5090`, `5090`.

    Raises UsageError that lists both.
    """
    plain = _plain(name).removeprefix("nvidia")
    found = next((target for target in TARGETS if _plain(target) == plain), None)
    found = found or next((GPUS[gpu] for gpu in GPUS if plain in (_plain(gpu), _plain(gpu).removeprefix("rtx"))), None)
    if found is None:
        raise UsageError(f"unknown target {name!r}: expected one of {', '.join(TARGETS)}, or a GPU: {', '.join(GPUS)}")
    return found


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _request(
    compiled: CompiledMask,
    targets: tuple[str, ...],
    emit: tuple[str, ...],
    directions: tuple[str, ...],
    heads: int,
    key_heads: int | None,
    head_dim: int,
    head_dim_v: int | None,
    dtype: str,
) -> CompileRequest:
    _check_known("listing", emit, LISTINGS)
    _check_known("direction", directions, DIRECTIONS)
    _check_known("dtype", (dtype,), DTYPES)
    for width in (head_dim, head_dim if head_dim_v is None else head_dim_v):
        if not 1 <= width <= LARGEST_HEAD_DIM:
            raise UsageError(f"head_dim {width}: the kernels take 1 to {LARGEST_HEAD_DIM}")
    if not compiled.query_length or not compiled.key_length:
        raise UsageError(f"{compiled.name} has no cells with these sizes, so no kernel runs; set sizes above 0")
    from compilemask.kernel.liveness import live_keys, live_queries

    descriptor = compiled.descriptor(128, 128)
    batch, mask_heads = descriptor.variant.shape
    heads = heads if mask_heads == 1 else mask_heads
    return CompileRequest(
        targets=targets,
        emit=emit,
        directions=directions,
        query_length=descriptor.query_length,
        key_length=descriptor.key_length,
        variant_shape=(batch, mask_heads),
        dead_keys=not bool(live_keys(descriptor).all()),
        dead_queries=not bool(live_queries(descriptor).all()),
        batch=batch,
        heads=heads,
        key_heads=key_heads or heads,
        head_dim=head_dim,
        head_dim_v=head_dim_v or head_dim,
        dtype=dtype,
    )


def _check_known(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    for value in given:
        if value not in known:
            raise UsageError(f"unknown {name} {value!r}: expected one of {', '.join(known)}")


def _reports(request: CompileRequest, progress: Progress) -> Iterator[TargetReport]:
    remaining = list(request.targets)
    while remaining:
        child = _Child(request, tuple(remaining))
        try:
            for line in child.lines():
                done = len(request.targets) - len(remaining)
                progress(done, len(request.targets), f"compiling for {remaining[0]}")
                if line.startswith(_DONE):
                    remaining.pop(0)
                elif line:
                    yield report_from_json(line)
                if not remaining:
                    break
            ending = child.end()
        except BaseException:
            child.kill()
            raise
        finally:
            child.close()
        if remaining:
            yield failed_report(remaining.pop(0), "all", ending)
    progress(len(request.targets), len(request.targets), "compiled")


class _Child:
    """The compiling process. It prints a report per line, and `done <target>` after the last one of a target."""

    def __init__(self, request: CompileRequest, targets: tuple[str, ...]) -> None:
        # here, not there: a compiler that is killed leaves its files behind
        self._cache = tempfile.TemporaryDirectory(prefix="compilemask-compile-", ignore_cleanup_errors=True)
        environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
        environment["TRITON_CACHE_DIR"] = self._cache.name  # a cached kernel has no compile time to report
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 - closed in close()
        self._process = subprocess.Popen(
            _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment
        )
        self._deadline = time.monotonic() + SECONDS_PER_TARGET * len(targets)
        self._timed_out = False
        self._lines: queue.Queue[str | None] = queue.Queue()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(replace(request, targets=targets).to_json())
            self._process.stdin.close()
        except BrokenPipeError:
            pass  # it ended before it read: end() says why
        self._reader = threading.Thread(target=self._read, name="compiler's answers", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def lines(self) -> Iterator[str]:
        """Its answers as they come, and an empty line whenever there was none for a moment."""
        while True:
            try:
                line = self._lines.get(timeout=SECONDS_OF_SILENCE)
            except queue.Empty:
                line = ""
                if time.monotonic() > self._deadline:
                    self._timed_out = True
                    return
            if line is None:
                return
            yield line

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def end(self) -> str:
        """Ends the process if it still runs; says in one line why it ended early."""
        try:
            code = self._process.wait(timeout=0 if self._timed_out else PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.returncode
        if self._timed_out:
            return f"the compiler did not finish within {SECONDS_PER_TARGET:.0f} s"
        self._errors.seek(0)
        said = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        return f"the compiler {how}" + (f": {said[-1]}" if said else "")

    def close(self) -> None:
        """Give back what the process took; it has ended."""
        self._reader.join(PATIENCE_SECONDS)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()
        self._errors.close()
        self._cache.cleanup()
