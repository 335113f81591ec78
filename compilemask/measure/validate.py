"""Whether a mask and its kernel are right: everything the compiler derived against slow, independent definitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from compilemask.descriptor.descriptor import Descriptor
from compilemask.measure import sampling
from compilemask.measure.machine import gpu_name, has_triton
from compilemask.measure.mask_checks import check_form, check_mask, check_table
from compilemask.measure.places import Place, places
from compilemask.measure.progress import Progress, silent
from compilemask.measure.reduced_mask import INTERPRETED_SIZE
from compilemask.measure.report import Check, Outcome, ValidationReport
from compilemask.pipeline import CompiledMask

BLOCK_M, BLOCK_N = 128, 128
MAX_PLACES = 16  # distinct masks
STEPS_PER_PLACE = 5
KERNEL_STEPS = {False: 7, True: 17}  # without and with a GPU


def validate(
    compiled: CompiledMask,
    *,
    block_m: int | None = None,
    block_n: int | None = None,
    descriptor: Descriptor | None = None,
    kernel: bool = True,
    progress: Progress = silent,
) -> ValidationReport:
    """Check intervals, tile map and descriptor bit by bit and, with `kernel`, outputs and gradients numerically.

    Masks up to 4,096 x 4,096 are compared cell by cell, larger ones on rows, columns and tiles that are always the
    same. `descriptor` is judged in place of the one that `compiled` makes. Raises what `progress` raises.
    """
    started = time.perf_counter()
    judged = compiled.descriptor(block_m or BLOCK_M, block_n or BLOCK_N) if descriptor is None else descriptor
    found = places(compiled, judged)
    checked = found[:MAX_PLACES]
    gpu = gpu_name()
    step = _counter(progress, len(checked) * STEPS_PER_PLACE + (KERNEL_STEPS[gpu is not None] if kernel else 0))
    checks: list[Check] = [check_form(judged)]
    well_formed = checks[0].outcome is Outcome.PASS
    checks += check_table(found, judged) if well_formed else []
    for place in checked if well_formed else []:
        tiles = compiled.tiles(judged.block_m, judged.block_n, place.batch, place.head)
        found_here = check_mask(place, judged, tiles, step)
        checks += [replace(check, scope=place.prefix + check.scope) for check in found_here]
    notes = _notes(compiled, found)
    if kernel and well_formed and compiled.query_length and compiled.key_length:
        checks += _kernel_checks(found, len(checked), (judged.block_m, judged.block_n), step, gpu)
        if any(check.of_budget is not None for check in checks):
            notes.append("sets: outputs that count visible cells; error and allowed are in cells")
            if gpu is None:
                notes.append(f"no GPU here: the kernel ran in Triton's interpreter on {_interpreted(compiled)}")
    machine = gpu or "the CPU"
    seconds = time.perf_counter() - started
    lengths = compiled.query_length, compiled.key_length
    limits = _limits(compiled, found, checks, gpu)
    return ValidationReport(compiled.name, *lengths, machine, tuple(checks), tuple(notes), seconds, limits)


def _interpreted(compiled: CompiledMask) -> str:
    """How much of the mask the interpreter was given."""
    return "the whole mask" if _is_interpreted_whole(compiled) else "pieces of the mask around its region borders"


def _is_interpreted_whole(compiled: CompiledMask) -> bool:
    return max(compiled.query_length, compiled.key_length) <= INTERPRETED_SIZE


def _limits(compiled: CompiledMask, found: list[Place], checks: list[Check], gpu: str | None) -> tuple[str, ...]:
    """What was not compared in full: samples of the cells, pieces for the kernel or no kernel, some distinct masks."""
    ran = any(check.of_budget is not None for check in checks)
    limits = [] if ran or not (compiled.query_length and compiled.key_length) else ["the mask only"]
    if not sampling.is_whole(compiled.query_length, compiled.key_length):
        limits.append("samples")
    if ran and gpu is None and not _is_interpreted_whole(compiled):
        limits.append("pieces")
    if len(found) > MAX_PLACES:
        limits.append(f"{MAX_PLACES} of {len(found)} distinct masks")
    return tuple(limits)


def _counter(progress: Progress, total: int) -> Callable[[str], None]:
    done = 0

    def step(text: str) -> None:
        nonlocal done
        progress(min(done, total), total, text)
        done += 1

    return step


def _kernel_checks(
    found: list[Place], numbers: int, block: tuple[int, int], step: Callable[[str], None], gpu: str | None
) -> list[Check]:
    """The kernel on the first `numbers` distinct masks of `found`."""
    step("loading torch")
    if not has_triton():
        return [Check("kernel", Outcome.SKIPPED, "Triton is not installed here; it exists for Linux only")]
    if gpu is not None:
        from compilemask.measure.kernel_checks import check_on_gpu

        return check_on_gpu(found, numbers, block, step)
    from compilemask.measure.kernel_runs import start_interpreter

    if lacking := start_interpreter():
        return [Check("kernel", Outcome.SKIPPED, lacking)]
    from compilemask.measure.kernel_checks import check_in_interpreter

    return check_in_interpreter(found, numbers, block, step)


def _notes(compiled: CompiledMask, found: list[Place]) -> list[str]:
    notes = []
    if not sampling.is_whole(compiled.query_length, compiled.key_length):
        notes.append(f"longer than {sampling.WHOLE:,}: sampled rows, columns and tiles were compared, not all cells")
    if len(found) > MAX_PLACES:
        notes.append(f"{len(found)} distinct masks for samples and heads; the first {MAX_PLACES} were compared")
    return notes
