"""Records what a worker answers, for the scenes that need a finished job: `python screenshots/record.py`.

Writes tests/app/recordings/{validate_green,validate_red,compile}.json. The times in
tests/app/recordings/times.csv are the causal lines of docs/notebooks/kernel_forward.md, one H200.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parent / "app")]

from compilemask.measure.compile_targets import compile_targets  # noqa: E402
from compilemask.measure.report import CompileReport, Listing  # noqa: E402
from compilemask.measure.validate import validate  # noqa: E402
from compilemask.pipeline import compile as compile_mask  # noqa: E402
from compilemask.worker_protocol import Done, encode  # noqa: E402

RECORDINGS = FOLDER.parent / "tests" / "app" / "recordings"
LINES = 90
"""Lines of a listing that are kept."""


def main() -> None:
    """Record all."""
    mask = compile_mask("shared_prompt_rm")
    _write("validate_green", Done(1, validate(mask)))
    descriptor = mask.descriptor()
    patterns = descriptor.patterns.copy()
    patterns[0, 5, 0] ^= 1 << 3
    _write("validate_red", Done(1, validate(mask, descriptor=replace(descriptor, patterns=patterns), kernel=False)))
    report = compile_targets(mask, ("sm_80", "sm_90", "sm_100"), emit=("ptx", "sass"))
    _write("compile", Done(1, _shortened(report)))


def _shortened(report: CompileReport) -> CompileReport:
    return replace(
        report,
        targets=tuple(
            replace(
                target,
                listings=tuple(
                    Listing(one.language, "\n".join(one.text.splitlines()[:LINES])) for one in target.listings
                ),
            )
            for target in report.targets
        ),
    )


def _write(name: str, done: Done) -> None:
    (RECORDINGS / f"{name}.json").write_text(encode(done) + "\n", encoding="utf-8")
    print(f"{name}.json")


if __name__ == "__main__":
    main()
