"""What the compiling child process is asked, and how its answers travel: plain records, one JSON line each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from compilemask.measure.report import InstructionCount, Listing, TargetReport


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """One problem, as far as it decides which machine code is made, and the targets (sm_<n>) to compile it for."""

    targets: tuple[str, ...]
    emit: tuple[str, ...]  # ttir, ttgir, llir, ptx, sass
    directions: tuple[str, ...]  # forward, backward
    query_length: int
    key_length: int
    variant_shape: tuple[int, int]
    dead_keys: bool
    dead_queries: bool
    batch: int
    heads: int
    key_heads: int
    head_dim: int
    head_dim_v: int
    dtype: str  # bfloat16, float16 or float32

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> CompileRequest:
        fields = json.loads(text)
        for name in ("targets", "emit", "directions", "variant_shape"):
            fields[name] = tuple(fields[name])
        return cls(**fields)


def report_to_json(report: TargetReport) -> str:
    """One line without line breaks."""
    return json.dumps(asdict(report))


def report_from_json(line: str) -> TargetReport:
    """The record of `report_to_json`. Raises ValueError, KeyError or TypeError on any other text."""
    fields = json.loads(line)
    fields["instructions"] = tuple(InstructionCount(**count) for count in fields["instructions"])
    fields["listings"] = tuple(Listing(**listing) for listing in fields["listings"])
    fields["warnings"] = tuple(fields["warnings"])
    return TargetReport(**fields)


def failed_report(target: str, kernel: str, error: str) -> TargetReport:
    """The record of a target that did not compile; `error` is one line."""
    return TargetReport(target, kernel, 0, 0, 0, 0, (), 0.0, error=" ".join(error.split())[:500])
