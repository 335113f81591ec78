"""How long every library mask takes to compile at about 32,768 tokens, on one core.

    python benchmarks/library.py [NAME ...] [--repeat 3] [--slower-than MS]

Prints a row per mask: tokens, runs per row, CPU milliseconds from the file's text to intervals, from intervals to the
128 x 128 tile map, and on to the descriptor with its transpose; the best of the repeats, the slowest mask first.
"""

from __future__ import annotations

import argparse
import ast
import random
import time
from dataclasses import dataclass
from typing import Any

from compilemask import library, pipeline
from compilemask.errors import CompileMaskError
from compilemask.pipeline.memory import keep_freed_memory

BLOCK = 128


@dataclass(frozen=True, slots=True)
class Row:
    """One measured mask; CPU times in milliseconds."""

    name: str
    queries: int
    keys: int
    runs_per_row: float
    compile_ms: float
    tiles_ms: float
    descriptor_ms: float
    patterns: int

    @property
    def total_ms(self) -> float:
        return self.compile_ms + self.tiles_ms + self.descriptor_ms

    def __str__(self) -> str:
        return (
            f"{self.name:<26}{self.queries:>9,}{self.keys:>9,}{self.runs_per_row:>10.2f}"
            f"{self.compile_ms:>10.1f}{self.tiles_ms:>9.1f}{self.descriptor_ms:>9.1f}{self.patterns:>10,}"
        )


TITLES = (
    f"{'mask':<26}{'queries':>9}{'keys':>9}{'runs/row':>10}{'compile':>10}{'tiles':>9}{'descr.':>9}{'patterns':>10}"
)


def parameters_at_32k(name: str) -> dict[str, Any]:
    """The sizes that the header gives; none for masks whose runs grow with the square of the length."""
    if name == "any_order":
        ranks = list(range(32_768))
        random.Random(0).shuffle(ranks)
        return {"ranks": ranks}
    return {key: ast.literal_eval(value) for key, value in library.header(name).at_32k}


def measure(name: str, repeat: int) -> Row:
    """Compile one mask `repeat` times at 32K, each stage by itself."""
    parameters = parameters_at_32k(name)
    stages: list[list[float]] = [[], [], []]
    for _ in range(repeat):
        marks = [time.process_time()]
        mask = pipeline.compile(name, params=parameters)
        marks.append(time.process_time())
        mask.tiles(BLOCK, BLOCK)
        marks.append(time.process_time())
        descriptor = mask.descriptor(BLOCK, BLOCK)
        marks.append(time.process_time())
        for stage, start, end in zip(stages, marks[:-1], marks[1:], strict=True):
            stage.append(1e3 * (end - start))
    runs = mask.statistics(BLOCK, BLOCK).mean_runs_per_row
    compile_ms, tiles_ms, descriptor_ms = (min(stage) for stage in stages)
    patterns = descriptor.patterns.shape[0]
    return Row(name, mask.query_length, mask.key_length, runs, compile_ms, tiles_ms, descriptor_ms, patterns)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile times of the library at 32,768 tokens.")
    parser.add_argument("names", nargs="*", help="library masks; all when none is given")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--slower-than", type=float, default=0.0, metavar="MS", help="show only masks above this total")
    arguments = parser.parse_args()
    keep_freed_memory()  # as the command line does
    rows, failures = [], []
    for name in arguments.names or library.names():
        try:
            rows.append(measure(name, arguments.repeat))
        except CompileMaskError as error:
            failures.append(f"{name}: {error}")
    print(TITLES)
    for row in sorted(rows, key=lambda row: -row.total_ms):
        if row.total_ms >= arguments.slower_than:
            print(row)
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    main()
