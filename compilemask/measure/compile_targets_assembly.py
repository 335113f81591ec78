"""Reads registers, spills and instruction counts off a compiled kernel, with the tools inside Triton's wheel."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from triton import knobs

from compilemask.measure.report import InstructionCount

_TOOL_SECONDS = 120

# what a reader looks for -> how PTX spells it
_IN_PTX = {
    "tcgen05.mma": r"tcgen05\.mma",
    "tcgen05.ld": r"tcgen05\.ld",
    "tcgen05.st": r"tcgen05\.st",
    "wgmma": r"wgmma\.mma_async",
    "mma.sync": r"mma\.sync",
    "ldmatrix": r"ldmatrix",
    "tma": r"cp\.async\.bulk",
    "cp.async": r"cp\.async\.(?:ca|cg)",
    "ex2": r"ex2\.approx",
    "atom/red": r"\b(?:atom|red)\.",
    "mbarrier": r"mbarrier\.",
}
# what a reader looks for -> opcodes of the assembly; local memory is where spilled registers go
_IN_SASS = {
    "ld.global": ("LDG",),
    "st.global": ("STG",),
    "ld.shared": ("LDS", "LDSM"),
    "st.shared": ("STS", "STSM"),
    "ld.local": ("LDL",),
    "st.local": ("STL",),
    "fma": ("FFMA", "FFMA2"),
    "barrier": ("BAR", "WARPSYNC"),
}


@dataclass(frozen=True, slots=True)
class Resources:
    """Registers per thread and bytes of stack per thread (spilled registers and local arrays)."""

    registers: int
    stack_bytes: int


def disassemble(cubin: bytes) -> str:
    """The assembly (SASS) of a cubin. Raises OSError or subprocess.SubprocessError if the tool fails."""
    return _run_tool(knobs.nvidia.nvdisasm.path, ["-c"], cubin)


def resources(cubin: bytes) -> Resources:
    """Registers and stack of the largest function of a cubin. Raises like `disassemble`, and ValueError."""
    usage = _run_tool(knobs.nvidia.cuobjdump.path, ["--dump-resource-usage"], cubin)
    found = re.findall(r"REG:(\d+) STACK:(\d+)", usage)
    if not found:
        raise ValueError("cuobjdump printed no resource usage")
    return Resources(max(int(r) for r, _ in found), max(int(s) for _, s in found))


def count_instructions(ptx: str, sass: str) -> tuple[InstructionCount, ...]:
    """Instructions by what they do, in the order of the tables above, then all of them; absent classes are left out."""
    code = "\n".join(line for line in ptx.splitlines() if not line.lstrip().startswith(("//", ".")))
    counts = {name: len(re.findall(pattern, code)) for name, pattern in _IN_PTX.items()}
    opcodes = Counter(re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)", sass, re.MULTILINE))
    counts |= {name: sum(opcodes[op] for op in group) for name, group in _IN_SASS.items()}
    counts["all"] = sum(opcodes.values())
    return tuple(InstructionCount(name, count) for name, count in counts.items() if count)


def _run_tool(tool: str, options: list[str], cubin: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run(
            [tool, *options, str(path)], capture_output=True, text=True, check=True, timeout=_TOOL_SECONDS
        )
    return done.stdout
