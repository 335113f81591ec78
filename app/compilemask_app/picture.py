"""What the screen shows of one revision of a mask: all of it plain data, made in the compile thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from compilemask.intervals.interval_set import Intervals
from compilemask.source import Diagnostic
from compilemask.tiles.tile_map import TileMap
from compilemask_app.drawing.regions import Regions


@dataclass(frozen=True, slots=True)
class Choice:
    """What is looked at: one sample and head, and the tile size."""

    batch: int = 0
    head: int = 0
    block_m: int = 128
    block_n: int = 128


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a cell is visible or hidden; `line` is 1-based, None where no rule says so."""

    visible: bool
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts for people, of one sample and head at one tile size."""

    visible: int
    density: float
    max_runs_per_row: int
    mean_runs_per_row: float
    empty_rows: int
    unseen_keys: int
    tiles_empty: int
    tiles_partial: int
    tiles_full: int
    distinct_partial: int
    useful: float
    heaviest: int
    lightest: int
    descriptor_bytes: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A compiled mask, ready to be drawn."""

    revision: int
    name: str
    title: str
    query_length: int
    key_length: int
    batch: int
    heads: int
    choice: Choice
    rows: Intervals
    tiles: TileMap
    figures: Figures
    queries: Regions
    keys: Regions
    compile_ms: float
    explain: Callable[[int, int], Reason]
    same_as: tuple[tuple[int, int], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    reordered: bool = False
    slot_of_query: Callable[[int], int] = int
    slot_of_key: Callable[[int], int] = int
    query_in_slot: Callable[[int], int] = int
    key_in_slot: Callable[[int], int] = int
