"""How time and memory of the compiler grow with the sequence, and beside eager `create_block_mask`.

    python benchmarks/compiler.py [--sizes 1024,32768,1048576] [--eager-up-to 8192] [--repeat 3]

Every measurement runs in a process of its own. Milliseconds are the best of the repeats, from the bound text to
intervals, 128 x 128 tile map and descriptor with its transpose; memory is the largest resident size of the process,
less that of a process that only imports. The eager column is torch's `create_block_mask` with the same mask as a
function, on the CPU; the last two columns are eager's time and memory divided by ours, from the same run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

SIZES = (1024, 4096, 8192, 32_768, 131_072, 1_048_576)
DOCUMENT = 2048
WINDOW = 1024
PROMPT, ANSWERS, ANSWER = 512, 6, 256
BLOCK = 128

MASKS: dict[str, str] = {
    "causal": "layout\n    token : {n}\nrules\n    token sees token : causal\n",
    "window": f"layout\n    token : {{n}}\nrules\n    token sees token : window(behind={WINDOW}, ahead=0)\n",
    "packed documents": (
        f"layout\n    document : [{DOCUMENT}] * ({{n}} // {DOCUMENT}) + [{{n}} % {DOCUMENT}]\n"
        "rules\n    document sees document : causal within document\n"
    ),
    "shared prompts": (
        f"layout\n    group repeat {{n}} // {PROMPT + ANSWERS * ANSWER} + 1\n        prompt : {PROMPT}\n"
        f"        answer : [{ANSWER}] * {ANSWERS}\n"
        "rules\n    prompt sees prompt : causal within group\n    answer sees prompt : all within group\n"
        "    answer sees answer : causal within answer\n"
    ),
}


def measure_ours(name: str, size: int, repeat: int) -> dict[str, float]:
    """Milliseconds and megabytes of one mask."""
    from compilemask.pipeline import compile_text

    baseline = _resident()
    text = MASKS[name].format(n=size)
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        compiled = compile_text(text)
        compiled.descriptor(BLOCK, BLOCK)
        times.append(1000 * (time.perf_counter() - begin))
    return {"ms": min(times), "megabytes": _resident() - baseline, "tokens": compiled.query_length}


def measure_eager(name: str, size: int) -> dict[str, float]:
    """Milliseconds and megabytes of torch's eager create_block_mask on the CPU."""
    from torch.nn.attention.flex_attention import create_block_mask

    function = _functions(size)[name]
    create_block_mask(function, None, None, BLOCK, BLOCK, device="cpu")
    baseline = _resident()
    begin = time.perf_counter()
    create_block_mask(function, None, None, size, size, device="cpu")
    return {"ms": 1000 * (time.perf_counter() - begin), "megabytes": _resident() - baseline}


def _functions(size: int) -> dict[str, Callable[..., Any]]:
    import torch

    index = torch.arange(size)
    document = index // DOCUMENT
    length = PROMPT + ANSWERS * ANSWER
    group, at = index // length, index % length
    answer = torch.where(at < PROMPT, -1, (at - PROMPT) // ANSWER)

    def shared_prompts(b: Any, h: Any, q: Any, k: Any) -> Any:
        prompt = (answer[k] == -1) & ((answer[q] != -1) | (q >= k))
        return (group[q] == group[k]) & (prompt | ((answer[q] == answer[k]) & (q >= k)))

    return {
        "causal": lambda b, h, q, k: q >= k,
        "window": lambda b, h, q, k: (q >= k) & (q - k <= WINDOW),
        "packed documents": lambda b, h, q, k: (document[q] == document[k]) & (q >= k),
        "shared prompts": shared_prompts,
    }


def _resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _in_a_process(*arguments: str) -> dict[str, float] | None:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no answer", file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print one row per mask and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--eager-up-to", type=int, default=8192)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--one", nargs=3, metavar=("WHAT", "MASK", "SIZE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        what, name, size = arguments.one
        one = measure_eager(name, int(size)) if what == "eager" else measure_ours(name, int(size), arguments.repeat)
        print(json.dumps(one))
        return
    eager_there = importlib.util.find_spec("torch") is not None
    print(f"{'mask':18} {'tokens':>9} {'ms':>8} {'MB':>7} {'eager ms':>9} {'eager MB':>9} {'time':>7} {'memory':>7}")
    for name in MASKS:
        for size in map(int, arguments.sizes.split(",")):
            ours = _in_a_process("--repeat", str(arguments.repeat), "--one", "ours", name, str(size))
            if ours is None:
                continue
            row = f"{name:18} {int(ours['tokens']):9,} {ours['ms']:8.1f} {ours['megabytes']:7.0f}"
            eager = None
            if eager_there and size <= arguments.eager_up_to:
                eager = _in_a_process("--one", "eager", name, str(size))
            if eager is not None:
                row += f" {eager['ms']:9.0f} {eager['megabytes']:9.0f} {eager['ms'] / ours['ms']:6.0f}x"
                row += f" {eager['megabytes'] / max(ours['megabytes'], 1.0):6.1f}x"
            print(row, flush=True)


if __name__ == "__main__":
    main()
