"""How long every library mask takes to compile at about 32,768 tokens, on one core.

    python benchmarks/library.py [NAME ...] [--repeat 3] [--slower-than MS]

Prints a row per mask: tokens, runs per row, milliseconds from the file's text to intervals, from intervals to the
128 x 128 tile map, and on to the descriptor with its transpose; the best of the repeats, the slowest mask first.
"""

from __future__ import annotations

import argparse
import ast
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from compilemask import library, pipeline
from compilemask.errors import CompileMaskError

Result = TypeVar("Result")
BLOCK = 128


@dataclass(frozen=True, slots=True)
class Row:
    """One measured mask; times in milliseconds."""

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


def parameters_at_32k(name: str) -> dict[str, Any]:
    """The sizes that the header gives; none for masks whose runs grow with the square of the length."""
    return {key: ast.literal_eval(value) for key, value in library.header(name).at_32k}


def _best(repeat: int, action: Callable[[], Result]) -> tuple[float, Result]:
    """The shortest time in milliseconds, and the last result."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = action()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times), result


def measure(name: str, repeat: int) -> Row:
    """Compile one mask `repeat` times at 32K."""
    parameters = parameters_at_32k(name)
    compile_ms, mask = _best(repeat, lambda: _rows(name, parameters))
    tiles_ms, _ = _best(repeat, lambda: _rows(name, parameters).tiles(BLOCK, BLOCK))
    descriptor_ms, descriptor = _best(repeat, lambda: _rows(name, parameters).descriptor(BLOCK, BLOCK))
    runs = mask.rows.starts.size / max(1, mask.query_length)
    return Row(
        name,
        mask.query_length,
        mask.key_length,
        runs,
        compile_ms,
        max(0.0, tiles_ms - compile_ms),
        max(0.0, descriptor_ms - tiles_ms),
        descriptor.patterns.shape[0],
    )


def _rows(name: str, parameters: dict[str, Any]) -> pipeline.CompiledMask:
    mask = pipeline.compile(name, params=parameters)
    assert mask.rows.rows == mask.query_length
    return mask


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile times of the library at 32,768 tokens.")
    parser.add_argument("names", nargs="*", help="library masks; all when none is given")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--slower-than", type=float, default=0.0, metavar="MS", help="show only masks above this total")
    arguments = parser.parse_args()
    rows, failures = [], []
    for name in arguments.names or library.names():
        try:
            rows.append(measure(name, arguments.repeat))
        except CompileMaskError as error:
            failures.append(f"{name}: {error}")
    print(
        f"{'mask':<26}{'queries':>9}{'keys':>9}{'runs/row':>10}{'compile':>10}{'tiles':>9}{'descr.':>9}{'patterns':>10}"
    )
    for row in sorted(rows, key=lambda row: -row.total_ms):
        if row.total_ms >= arguments.slower_than:
            print(
                f"{row.name:<26}{row.queries:>9,}{row.keys:>9,}{row.runs_per_row:>10.2f}"
                f"{row.compile_ms:>10.1f}{row.tiles_ms:>9.1f}{row.descriptor_ms:>9.1f}{row.patterns:>10,}"
            )
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    main()
