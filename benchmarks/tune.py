"""Times launch configurations of the forward kernels on this GPU: `python -m benchmarks.tune --help`.

Prints, per head_dim and kernel, the candidates fastest first. The fastest belongs into
compilemask/kernel/configurations.py; nothing is changed by this program.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmarks.workloads import WORKLOADS, Workload
from compilemask.kernel import hopper_launch
from compilemask.kernel.configurations import Configuration, Family, HopperConfiguration
from compilemask.kernel.dispatch import gpu_family
from compilemask.kernel.forward_launch import portable_forward
from compilemask.kernel.prepared import handle_of, prepared

PORTABLE = [
    Configuration(block_m, block_n, warps, stages)
    for block_m, block_n, warps, stages in itertools.product((64, 128), (32, 64, 128), (4, 8), (1, 2, 3))
]
HOPPER = [
    HopperConfiguration(2, 128, 2, True, 240, 24),
    HopperConfiguration(2, 128, 3, True, 240, 24),
    HopperConfiguration(2, 128, 4, True, 240, 24),
    HopperConfiguration(2, 64, 4, True, 240, 24),
    HopperConfiguration(3, 64, 4, True, 160, 32),
    HopperConfiguration(3, 64, 2, False, 160, 32),
]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", choices=list(WORKLOADS), default="causal")
    parser.add_argument("--length", type=int, default=16384)
    parser.add_argument("--head-dims", nargs="+", type=int, default=[64, 128, 256])
    parser.add_argument("--heads", type=int, default=16)
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("benchmarks.tune needs a CUDA GPU; this machine has none.", file=sys.stderr)
        return 3
    workload = WORKLOADS[options.workload](options.length)
    for head_dim in options.head_dims:
        shape = (1, options.heads, options.length, head_dim)
        q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        results = [(_time(run), name) for name, run in _candidates(workload, q, k, v)]
        print(f"head_dim {head_dim}, {options.workload}, {options.length} tokens, ms")
        for milliseconds, name in sorted(results):
            print(f"  {milliseconds:9.3f}  {name}")
    return 0


def _candidates(workload: Workload, q: Tensor, k: Tensor, v: Tensor) -> Iterator[tuple[str, Callable[[], object]]]:
    scale = q.shape[3] ** -0.5
    for configuration in PORTABLE:
        tensors = prepared(handle_of(workload)).tensors(configuration.block_m, configuration.block_n, q.device)
        yield (
            f"portable {configuration}",
            lambda t=tensors, c=configuration: portable_forward(q, k, v, t, scale, c),
        )
    if gpu_family(q.device) is Family.HOPPER and hopper_launch.hopper_accepts(q, v, scale):
        for hopper in HOPPER:
            call = _hopper_call(hopper, workload, q, k, v)
            yield f"hopper {hopper}", lambda c=call: c(q, k, v, scale)


def _hopper_call(
    configuration: HopperConfiguration, workload: Workload, q: Tensor, k: Tensor, v: Tensor
) -> hopper_launch.HopperCall:
    plan = hopper_launch.plan_for(q, k, v, prepared(handle_of(workload)), configuration)
    return hopper_launch.HopperCall(q, k, v, plan)


def _time(run: Callable[[], object]) -> float:
    from triton.testing import do_bench

    try:
        return float(do_bench(run, warmup=20, rep=60, return_mode="median"))
    except Exception:  # too much shared memory, most often: not a candidate on this GPU
        return float("inf")


if __name__ == "__main__":
    sys.exit(main())
