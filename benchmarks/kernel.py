"""Times the kernel beside its peers on one GPU: `python -m benchmarks.kernel --help`.

All contenders of one row run in one process, in rounds of random order; a figure is the median over the rounds of
`triton.testing.do_bench` medians. TFLOP/s count visible cells only: 4 * heads * head_dim * cells forward, 3.5 times
that with the backward pass. Every peer's output is compared with ours before it is timed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.peers import PEERS, Inputs, Prepared, Unsupported, ours
from benchmarks.workloads import WORKLOADS, Workload

OURS = "CompileMask"
AGREES = 0.02  # relative L2 difference between two bf16 kernels
ORDERED = {"clear_patches": "clear", "clear_inside": "clear"}  # compared with peers on the raster mask


@dataclass(frozen=True, slots=True)
class Row:
    """One workload at one size and direction; milliseconds and spread by contender."""

    workload: str
    length: int
    heads: int
    head_dim: int
    backward: bool
    visible: int
    milliseconds: dict[str, float]
    spread: dict[str, float]
    notes: dict[str, str]

    @property
    def best_peer(self) -> float | None:
        """Milliseconds of the fastest peer."""
        return min((ms for name, ms in self.milliseconds.items() if name != OURS), default=None)

    @property
    def ratio(self) -> float | None:
        """How many times our speed is that of the best peer."""
        mine = self.milliseconds.get(OURS)
        return None if mine is None or self.best_peer is None else self.best_peer / mine

    def tflops(self, name: str) -> float:
        """Useful TFLOP/s."""
        work = 4 * self.heads * self.head_dim * self.visible * (3.5 if self.backward else 1.0)
        return work / self.milliseconds[name] / 1e9


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if not torch.cuda.is_available():
        print("benchmarks.kernel needs a CUDA GPU; this machine has none.", file=sys.stderr)
        return 3
    started = time.monotonic()
    rows: list[Row] = []
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {options.heads} heads, bf16", flush=True)
    for head_dim, length in itertools.product(options.head_dims, options.lengths):
        raster: dict[bool, Row] = {}
        for name in options.workloads:
            if options.seconds and time.monotonic() - started > options.seconds:
                print(f"stopped after {options.seconds} s", flush=True)
                return _finish(rows, options.out)
            for row in _rows(name, length, head_dim, options):
                if name == "clear":
                    raster[row.backward] = row
                elif name in ORDERED and row.backward in raster:
                    peers = raster[row.backward].milliseconds.items()
                    row.milliseconds.update({peer: ms for peer, ms in peers if peer != OURS})
                rows.append(row)
                print(_line(row), flush=True)
                _write(rows, options.out)
    return _finish(rows, options.out)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--lengths", nargs="+", type=int, default=[32768, 16384, 8192, 4096, 2048, 1024])
    parser.add_argument("--head-dims", nargs="+", type=int, default=[128, 64])
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--backward", action="store_true", help="time forward + backward as well")
    parser.add_argument("--only-prepare", action="store_true", help="run each call once, to fill compilers' caches")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--milliseconds", type=int, default=60, help="measuring time per contender and round")
    parser.add_argument("--seconds", type=float, default=0, help="begin no further row after this long")
    parser.add_argument("--out", type=Path, help="folder for kernel.md and kernel.json")
    return parser


def _rows(name: str, length: int, head_dim: int, options: argparse.Namespace) -> Iterator[Row]:
    """The forward row and, if asked for, the one of forward + backward, of the same contenders."""
    workload = WORKLOADS[name](length)
    inputs = _inputs(options.heads, length, head_dim, options.backward)
    contenders, notes = _contenders(workload, inputs, options.peers if name not in ORDERED else [])
    for backward in [False, True] if options.backward else [False]:
        if options.only_prepare:
            for prepared in contenders.values():
                _call(prepared, inputs.gradient, backward)()
            continue
        times = _interleaved(contenders, inputs, backward, options.rounds, options.milliseconds, notes)
        yield Row(
            workload.name, length, options.heads, head_dim, backward, workload.rows.visible,
            {n: statistics.median(t) for n, t in times.items()},
            {n: (max(t) - min(t)) / statistics.median(t) for n, t in times.items()},
            dict(notes),
        )  # fmt: skip


def _contenders(workload: Workload, inputs: Inputs, peers: list[str]) -> tuple[dict[str, Prepared], dict[str, str]]:
    """Those that ran once and agreed with ours; the others with the reason."""
    torch._dynamo.reset()
    contenders = {OURS: ours(workload, inputs)}
    expected = contenders[OURS].run().detach()
    notes: dict[str, str] = {}
    for peer in peers:
        try:
            prepared = PEERS[peer](workload, inputs)
            wrong = _disagreement(prepared, expected)
        except Unsupported as reason:
            notes[peer] = str(reason)
        except Exception as failure:  # a peer that breaks is a figure missing, not the end of the table
            notes[peer] = _failed(failure)
        else:
            if wrong:
                notes[peer] = wrong
            else:
                contenders[peer] = prepared
    return contenders, notes


def _failed(failure: Exception) -> str:
    lines = str(failure).splitlines() or [""]
    return f"failed: {type(failure).__name__}: {lines[0][:120]}"


def _inputs(heads: int, length: int, head_dim: int, backward: bool) -> Inputs:
    torch.manual_seed(0)
    q, k, v, gradient = (torch.randn(1, heads, length, head_dim, device="cuda", dtype=torch.bfloat16) for _ in range(4))
    return Inputs(*(leaf.requires_grad_(backward) for leaf in (q, k, v)), gradient)


def _disagreement(prepared: Prepared, expected: Tensor) -> str:
    output = prepared.run().detach()
    output = output if prepared.heads_first else output.transpose(1, 2)
    difference = (output.float() - expected.float()).norm() / expected.float().norm()
    return "" if float(difference) < AGREES else f"wrong: differs by {float(difference):.2g}"


def _interleaved(
    contenders: dict[str, Prepared], inputs: Inputs, backward: bool, rounds: int, milliseconds: int,
    notes: dict[str, str],
) -> dict[str, list[float]]:  # fmt: skip
    from triton.testing import do_bench

    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    for _ in range(rounds):
        random.shuffle(order)
        for name in list(order):
            call = _call(contenders[name], inputs.gradient, backward)
            try:
                times[name].append(do_bench(call, warmup=20, rep=milliseconds, return_mode="median"))
            except Exception as failure:
                notes[name] = _failed(failure)
                order.remove(name)
                del times[name]
    return times


def _call(prepared: Prepared, gradient: Tensor, backward: bool) -> Callable[[], object]:
    if not backward:
        return torch.no_grad()(prepared.run)
    incoming = gradient if prepared.heads_first else gradient.transpose(1, 2).contiguous()
    return lambda: torch.autograd.grad(prepared.run(), prepared.leaves, incoming)


def _line(row: Row) -> str:
    direction = "fwd+bwd" if row.backward else "fwd"
    cells = [
        f"{n} {ms:.3f} ms ({row.tflops(n):.0f}, ±{row.spread.get(n, 0) * 50:.1f} %)"
        for n, ms in row.milliseconds.items()
    ]
    ratio = f"; {row.ratio:.2f} x the best peer" if row.ratio else ""
    notes = "".join(f"; {n}: {why}" for n, why in row.notes.items() if why.startswith(("wrong", "failed", "not")))
    return f"{direction} {row.workload} {row.length} D{row.head_dim}: {', '.join(cells)}{ratio}{notes}"


def _table(rows: list[Row]) -> str:
    names = [OURS, *PEERS]
    lines = [
        "| direction | workload | tokens | head_dim | " + " | ".join(names) + " | best peer / ours |",
        "|---|---|---|---|" + "---|" * (len(names) + 1),
    ]
    for row in rows:
        cells = [f"{row.milliseconds[n]:.3f} ({row.tflops(n):.0f})" if n in row.milliseconds else "-" for n in names]
        ratio = f"{row.ratio:.2f}" if row.ratio else "-"
        direction = "forward + backward" if row.backward else "forward"
        head = f"| {direction} | {row.workload} | {row.length:,} | {row.head_dim} | "
        lines.append(head + " | ".join(cells) + f" | {ratio} |")
    return "\n".join(lines)


def _finish(rows: list[Row], out: Path | None) -> int:
    print("\nms (useful TFLOP/s)\n" + _table(rows), flush=True)
    _write(rows, out)
    return 0


def _write(rows: list[Row], out: Path | None) -> None:
    """After every row, so that a run cut short leaves what it measured."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "kernel.md").write_text(_table(rows) + "\n")
        (out / "kernel.json").write_text(json.dumps([asdict(row) | {"ratio": row.ratio} for row in rows], indent=1))


if __name__ == "__main__":
    sys.exit(main())
