"""Reports as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compilemask.command_line.screen import say, show_table, table, unicode_shown
from compilemask.language.parameter_table import ShownParameter, kind_of
from compilemask.language.values import show
from compilemask.measure.report import (
    Check,
    CompileReport,
    InstructionCount,
    Outcome,
    TimingReport,
    ValidationReport,
)

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask, Statistics

MOST_SHOWN = 40
MOST_ROWS = 200  # parameters in a table
TELLING = ("tcgen05.mma", "wgmma", "mma.sync", "cp.async.bulk", "all")
OUTCOMES = {Outcome.PASS: "ok", Outcome.FAIL: "WRONG", Outcome.SKIPPED: "skipped"}


def heading(compiled: CompiledMask) -> None:
    """Name, title and size of a mask."""
    dash, times = ("—", "×") if unicode_shown() else ("-", "x")
    title = f" {dash} {compiled.title}" if compiled.title else ""
    say(f"{compiled.name}{title}")
    say(f"{compiled.query_length:,} queries {times} {compiled.key_length:,} keys, {_copies(compiled)}")


def _copies(compiled: CompiledMask) -> str:
    batch = "any batch" if compiled.batch == 1 else f"{compiled.batch} batch entries"
    heads = "any heads" if compiled.heads == 1 else f"{compiled.heads} heads"
    return f"{batch}, {heads}"


def statistics_table(statistics: Statistics) -> None:
    """What the compiler counted."""
    tile = statistics.tile
    tiles = tile.empty + tile.partial + tile.full
    made = table("", "what", "value", right=("value",))
    made.show_header = False
    made.add_row("visible cells", f"{statistics.visible:,} ({statistics.density:.2%})")
    made.add_row("runs per row, at most", f"{statistics.max_runs_per_row:,}")
    made.add_row("queries that see nothing", f"{statistics.empty_rows:,}")
    made.add_row(f"tiles of {tile.block_m} x {tile.block_n}", f"{tiles:,}")
    for name, count in (("empty (skipped)", tile.empty), ("partial", tile.partial), ("full", tile.full)):
        made.add_row(f"  {name}", f"{count:,} ({count / max(tiles, 1):.1%})")
    made.add_row("  distinct partial", f"{tile.distinct_partial:,}")
    made.add_row("  useful share of visited cells", f"{tile.useful:.1%}")
    made.add_row("descriptor", f"{statistics.descriptor_bytes / 1024:,.1f} KiB")
    made.add_row("compiled in", f"{statistics.compile_ms:.1f} ms")
    show_table(made)


def parameters_table(parameters: Sequence[ShownParameter]) -> None:
    """One line per parameter: what it is, what the file says of it; nothing where a mask has none."""
    if not parameters:
        return
    made = table("Parameters", "name", "value", "kind", "in the file", "comment")
    for one in parameters[:MOST_ROWS]:
        kind = f"{kind_of(one.value)}, per {one.per}" if one.per else kind_of(one.value)
        value = "" if one.value is None else shortened(show(one.value))
        made.add_row(one.name, value, kind, shortened(_written(one)), one.comment)
    show_table(made)
    if len(parameters) > MOST_ROWS:
        say(f"and {len(parameters) - MOST_ROWS:,} more, which --json tells")
    for required in dict.fromkeys(need for one in parameters for need in one.requirements):
        say(f"requires {required.condition}" + (f": {required.text}" if required.text else ""))


def _written(parameter: ShownParameter) -> str:
    return f'from "{parameter.file}"' if parameter.file else parameter.default or "no value"


def shortened(text: str) -> str:
    """As much of a value as stands in a table."""
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def validation_table(report: ValidationReport) -> None:
    """One line per check, then the first wrong cell and the remarks."""
    numbers = ("error", "allowed", "of budget")
    made = table(f"Validation on {report.machine}", "check", "result", *numbers, "compared", right=numbers)
    for check in report.checks:
        errors = [_figure(check.largest_error, ".1e"), _figure(check.largest_allowed, ".1e")]
        made.add_row(check.name, _result(check), *errors, _figure(check.of_budget, ".2f"), check.scope)
    show_table(made)
    for words in report.precisions:
        say(f"precision of {words}")
    for check in report.checks:
        if check.first_wrong is not None:
            say(f"first wrong cell of {check.name}: {check.first_wrong.describe()}")
    for note in report.notes:
        say(f"note: {note}")
    say(f"{report.mask}: {report.verdict if report.passed else 'WRONG'}, {report.seconds:.1f} s")


def _result(check: Check) -> str:
    word = OUTCOMES[check.outcome]
    return f"{word}: {check.wrong_cells:,} cells" if check.wrong_cells else word


def compile_table(report: CompileReport) -> None:
    """One line per kernel and target; failures below."""
    names = ("registers", "spills", "shared", "tensor mem", "seconds")
    made = table(f"Compiled kernels of {report.mask}", "target", "kernel", *names, "instructions", right=names)
    for target in report.targets:
        if target.error is not None:
            made.add_row(target.target, target.kernel_words, "", "", "", "", "", "failed")
            continue
        counts = ", ".join(f"{item.name} {item.count:,}" for item in target.instructions if _is_telling(item))
        made.add_row(
            target.target,
            target.kernel_words,
            f"{target.registers}",
            f"{target.spills} B",
            f"{target.shared_bytes / 1024:.1f} KiB",
            f"{target.tensor_memory}" if target.tensor_memory else "-",
            f"{target.compile_s:.2f}",
            counts,
        )
    show_table(made)
    for target in report.targets:
        for text in (target.error, *target.warnings):
            if text:
                say(f"{target.target} {target.kernel_words}: {text}")


def _is_telling(item: InstructionCount) -> bool:
    """Whether people want to see it in a table: tensor cores, bulk copies and the total; JSON has all."""
    return item.count > 0 and item.name.startswith(TELLING)


def timing_table(report: TimingReport) -> None:
    """One line per implementation."""
    numbers = ("forward ms", "spread", "useful TFLOP/s", "executed TFLOP/s", "ratio")
    size = f"batch {report.batch}, {report.heads} heads, head_dim {report.head_dim}, {report.dtype}"
    title = f"{report.mask} on {report.gpu}: {report.query_length:,} x {report.key_length:,}, {size}"
    made = table(title, "what", *numbers, "", right=numbers)
    for entry in report.entries:
        made.add_row(
            entry.what,
            _number(entry.forward_ms, ".3f"),
            _number(entry.spread, ".1%"),
            _number(entry.useful_tflops, ".0f"),
            _number(entry.executed_tflops, ".0f"),
            _number(entry.ratio, ".2f"),
            entry.note or "",
        )
    show_table(made)
    say("ratio: time of that line over time of ours; above 1, ours is faster")


def _figure(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
