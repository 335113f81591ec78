"""What the screen shows of one revision of a mask: all of it plain data, made in the compile thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from compilemask.intervals.interval_set import Intervals
    from compilemask.intervals.lowering import Lowered
    from compilemask.pipeline import CompiledMask
    from compilemask.source import Diagnostic
    from compilemask.tiles.tile_map import TileMap
    from compilemask_app.drawing.regions import Regions
    from compilemask_app.drawing.sampling import Sampled, SampledTiles


@dataclass(frozen=True, slots=True)
class Choice:
    """What is looked at: one sample and head, and the tile size."""

    batch: int = 0
    head: int = 0
    block_m: int = 128
    block_n: int = 128


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a cell is visible or hidden; `line` is 1-based, that of the rule to look at, None where there is none."""

    visible: bool
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts for people, of one sample and head at one tile size.

    `stored`: runs are counted in the kernel's token order, in which the mask is kept.
    """

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
    stored: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MaskPicture:
    """A compiled mask, ready to be drawn, before its tiles are made. Tokens are counted as the mask is written.

    `whole` makes the rest; that may take longer than the compilation.
    """

    revision: int
    name: str
    title: str
    query_length: int
    key_length: int
    batch: int
    heads: int
    choice: Choice
    lowered: Lowered
    mask_pixels: Sampled
    density: float
    queries: Regions
    keys: Regions
    compile_ms: float
    explain: Callable[[int, int], Reason]
    finish: Callable[[MaskPicture], Picture] | None = None
    same_as: tuple[tuple[int, int], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    query_order: NDArray[np.int32] | None = None  # slot i of the kernel holds query query_order[i]
    key_order: NDArray[np.int32] | None = None
    compiled: CompiledMask | None = None

    def whole(self) -> Picture:
        """With tile map and figures. Raises MaskFileError or UsageError where these would cost too much."""
        assert self.finish is not None
        return self.finish(self)

    @property
    def looked_at(self) -> str:
        """`sample 0 of 2, head 1 of 4`, counted as the language counts them; nothing of what there is only one of."""
        counts = (("sample", self.choice.batch, self.batch), ("head", self.choice.head, self.heads))
        return ", ".join(f"{name} {place} of {number}" for name, place, number in counts if number > 1)

    @property
    def reordered(self) -> bool:
        """Whether the kernel keeps the tokens in another order than the mask is written in."""
        return self.query_order is not None or self.key_order is not None

    def slots_of(self, query: int, key: int) -> tuple[int, int]:
        """Where the kernel keeps a query and a key."""
        return _slot(self.query_order, query), _slot(self.key_order, key)

    def tokens_in(self, query_slot: int, key_slot: int) -> tuple[int, int]:
        """The query and key that the kernel keeps in two slots."""
        return _token(self.query_order, query_slot), _token(self.key_order, key_slot)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Picture(MaskPicture):
    """A compiled mask with its tile map. Making the rows may take long where the mask is kept in another form."""

    tiles: TileMap
    tile_pixels: SampledTiles
    figures: Figures
    make_rows: Callable[[], Intervals]

    def whole(self) -> Picture:
        """This is all of it."""
        return self

    @property
    def rows(self) -> Intervals:
        """The mask as written, row by row."""
        return self.make_rows()

    def tile_of(self, query: int, key: int) -> tuple[int, int]:
        """The (query tile, key tile) that holds a cell, in kernel order."""
        query_slot, key_slot = self.slots_of(query, key)
        return query_slot // self.tiles.block_m, key_slot // self.tiles.block_n

    def cell_of_tile(self, query_tile: int, key_tile: int) -> tuple[int, int]:
        """The (query, key) of the first cell of a tile."""
        return self.tokens_in(query_tile * self.tiles.block_m, key_tile * self.tiles.block_n)


def _token(order: NDArray[np.int32] | None, slot: int) -> int:
    return slot if order is None else int(order[slot])


def _slot(order: NDArray[np.int32] | None, token: int) -> int:
    return token if order is None else int((order == token).argmax())
