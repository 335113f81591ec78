"""What validating, compiling and timing a mask found: plain records, free of torch and of any screen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """How a check ended. SKIPPED never counts as a proof."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class WrongCell:
    """The first cell (query, key) that differs.

    `key` is -1 where a whole query differs (out, LSE, dQ), `query` is -1 where a whole key does (dK, dV).
    `tile` is the (query tile, key tile) that holds the cell, -1 likewise, for the block sizes that were checked.
    """

    batch: int
    head: int
    query: int
    key: int
    query_region: str
    key_region: str
    tile: tuple[int, int]
    expected: str
    found: str

    def describe(self) -> str:
        """One line for people."""
        places = [f"query {self.query:,} = {self.query_region}"] if self.query >= 0 else []
        places += [f"key {self.key:,} = {self.key_region}"] if self.key >= 0 else []
        if self.query >= 0 and self.key >= 0:
            places.append(f"tile {self.tile}")
        where = f"batch {self.batch} head {self.head}, {', '.join(places)}"
        return f"{where}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison. `scope` says exactly what was compared.

    `of_budget` is the worst error in units of the allowed one (None for bit-exact checks), `precision` says in which
    numbers the kernel multiplied and added. `largest_error` and `largest_allowed` are those of the row, or the
    value, that used the most of what it was allowed: in units of the output, or in cells where the check counts cells.
    """

    name: str
    outcome: Outcome
    scope: str
    of_budget: float | None = None
    first_wrong: WrongCell | None = None
    wrong_cells: int = 0
    precision: str | None = None
    largest_error: float | None = None
    largest_allowed: float | None = None


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """All checks of one mask. `machine` says what ran the kernel.

    `limits` says in a word each what the checks did not look at in full, so that a verdict can say it too; `notes` say
    the same, and more, in sentences.
    """

    mask: str
    query_length: int
    key_length: int
    machine: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    seconds: float
    limits: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """`proved`, with what it is proved on where that is not the whole mask, or `wrong`."""
        if not self.passed:
            return "wrong"
        return "proved" + (f" on {', '.join(self.limits)}" if self.limits else "")

    @property
    def passed(self) -> bool:
        """True when nothing failed and at least one check ran."""
        ran = [check for check in self.checks if check.outcome is not Outcome.SKIPPED]
        return bool(ran) and all(check.outcome is Outcome.PASS for check in ran)

    @property
    def worst_of_budget(self) -> float | None:
        """The largest error over all numeric checks, in units of the allowed one."""
        shares = [check.of_budget for check in self.checks if check.of_budget is not None]
        return max(shares) if shares else None

    @property
    def precisions(self) -> tuple[str, ...]:
        """In which numbers the kernels multiplied and added, each once."""
        return tuple(dict.fromkeys(check.precision for check in self.checks if check.precision is not None))

    @property
    def first_wrong(self) -> WrongCell | None:
        """The first wrong cell of the first check that names one."""
        return next((check.first_wrong for check in self.checks if check.first_wrong is not None), None)


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """How often one class of instruction occurs in the assembly, e.g. `tcgen05.mma`."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Listing:
    """One text the compiler produced: `language` is ptx, sass, ttgir, ttir or llir."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class TargetReport:
    """One kernel compiled for one target. Registers per thread, spills in bytes, shared memory in bytes per block.

    `tensor_memory` is in columns (0 where the target has none). `error` is set when the target failed, else None.
    """

    target: str
    kernel: str
    registers: int
    spills: int
    shared_bytes: int
    tensor_memory: int
    instructions: tuple[InstructionCount, ...]
    compile_s: float
    warnings: tuple[str, ...] = ()
    listings: tuple[Listing, ...] = ()
    error: str | None = None

    @property
    def kernel_words(self) -> str:
        """The kernel's name for people; `kernel` is that of its function."""
        return KERNEL_WORDS.get(self.kernel, self.kernel.replace("_", " "))


KERNEL_WORDS = {
    "attention_forward": "forward",
    "attention_backward": "backward",
    "attention_backward_keys": "backward, keys",
    "attention_backward_queries": "backward, queries",
    "hopper_attention_forward": "forward (Hopper)",
    "hopper_attention_backward": "backward (Hopper)",
}
"""What the kernels that attend are called; the small ones beside them have telling names."""


@dataclass(frozen=True, slots=True)
class CompileReport:
    """The kernel of one mask, per target."""

    mask: str
    targets: tuple[TargetReport, ...]

    @property
    def passed(self) -> bool:
        """True when every target compiled."""
        return bool(self.targets) and all(target.error is None for target in self.targets)


@dataclass(frozen=True, slots=True)
class TimingEntry:
    """One implementation in one run. Times in milliseconds, median; `spread` is (p80 - p20) / median.

    `useful_tflops` counts visible cells only, `executed_tflops` the cells of all visited tiles (None if unknown).
    `ratio` is its time over ours in the same run: above 1, ours is faster. `note` says why figures are missing.
    """

    what: str
    forward_ms: float | None
    spread: float | None
    useful_tflops: float | None
    executed_tflops: float | None
    ratio: float | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class TimingReport:
    """All implementations of one mask, timed round robin in one run."""

    mask: str
    gpu: str
    batch: int
    heads: int
    head_dim: int
    dtype: str
    query_length: int
    key_length: int
    entries: tuple[TimingEntry, ...]
