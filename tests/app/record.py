"""Takes the recordings of the worker anew by doing its jobs: `python -m tests.app.record`, some minutes without a GPU.

Scenes and pilot tests show them. Assembly is cut, so that the files stay small. `times.csv` holds a run of
`benchmarks/table.sh` on a GPU; its spread is the range over three rounds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from compilemask import pipeline
from compilemask.descriptor.descriptor import Descriptor
from compilemask.measure.compile_targets import compile_targets
from compilemask.measure.report import CompileReport, TargetReport, ValidationReport
from compilemask.measure.validate import validate
from compilemask.pipeline import CompiledMask
from compilemask.worker_protocol import Done, encode
from tests.scenes import RECORDINGS

TARGETS = ("sm_80", "sm_90", "sm_100")
KEPT = 4000  # characters of each listing, up to the end of a line
FLIPPED = (133, 131)  # row and column of the bit that is wrong in the first causal pattern


def main() -> None:
    mask = pipeline.compile("shared_prompt_rm")
    _keep("validate_green", validate(mask))
    _keep("validate_red", validate(mask, descriptor=_wrong(mask), kernel=False))
    _keep("compile", _cut(compile_targets(mask, TARGETS, emit=("ptx", "sass"))))


def _keep(name: str, report: ValidationReport | CompileReport) -> None:
    path = RECORDINGS / f"{name}.json"
    path.write_text(encode(Done(1, report)) + "\n", encoding="utf-8")


def _wrong(mask: CompiledMask) -> Descriptor:
    """The mask's descriptor with one visible cell hidden, in the tile of a late answer's diagonal."""
    descriptor = mask.descriptor(128, 128)
    row, column = (place % 128 for place in FLIPPED)
    pattern = int(descriptor.by_query.partial_patterns[descriptor.by_query.partial_offsets[1] - 1])
    patterns = descriptor.patterns.copy()
    patterns[pattern, row, column // 32] ^= np.uint32(1) << np.uint32(column % 32)
    return replace(descriptor, patterns=patterns)


def _cut(report: CompileReport) -> CompileReport:
    return replace(report, targets=tuple(map(_cut_listings, report.targets)))


def _cut_listings(target: TargetReport) -> TargetReport:
    listings = tuple(replace(one, text=one.text[: one.text.find("\n", KEPT) + 1]) for one in target.listings)
    return replace(target, listings=listings)


if __name__ == "__main__":
    main()
