"""What a comparison shows: two pictures of equal size and what only one of them shows. Made in a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from compilemask.errors import UsageError
from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.lowering import Lowered
from compilemask.intervals.solve import Form
from compilemask.tiles.build import build_tile_map
from compilemask_app.drawing.regions import Regions, in_slots, shared
from compilemask_app.drawing.sampling import Sampled, sampled, sampled_tiles
from compilemask_app.jobs.pictures import figures_of
from compilemask_app.picture import Picture, Reason


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two pictures with their names; the differences are what only the left or only the right mask shows.

    `regions` of queries and keys are those that both have at the same places; where they differ, they have no names.
    """

    left_name: str
    right_name: str
    left: Picture
    right: Picture
    only_left: Intervals
    only_right: Intervals
    left_pixels: Sampled
    right_pixels: Sampled
    regions: tuple[Regions, Regions]
    orders: bool = False

    def summary(self) -> str:
        """The difference in words."""
        tiles = f"tiles visited {_visited(self.left):,} | {_visited(self.right):,}"
        if self.orders:
            return f"one mask, two token orders   {tiles}"
        cells = self.only_left.visible + self.only_right.visible
        if not cells:
            return f"equal masks   {tiles}"
        return f"only left {self.only_left.visible:,} cells, only right {self.only_right.visible:,}   {tiles}"


class LengthsDiffer(UsageError):
    """Two masks that are to be compared have other numbers of queries or keys."""


def _visited(picture: Picture) -> int:
    return picture.figures.tiles_partial + picture.figures.tiles_full


def compare(left: Picture, right: Picture, left_name: str, right_name: str) -> Comparison:
    """Compare two masks. Raises LengthsDiffer."""
    if (left.query_length, left.key_length) != (right.query_length, right.key_length):
        raise LengthsDiffer(
            f"{left_name} has {left.query_length:,} × {left.key_length:,} cells, {right_name} "
            f"{right.query_length:,} × {right.key_length:,}: give both the same sizes to compare them"
        )
    left_rows, right_rows = left.rows, right.rows
    only_left, only_right = left_rows.difference(right_rows), right_rows.difference(left_rows)
    return Comparison(
        left_name, right_name, left, right, only_left, only_right, sampled(only_left), sampled(only_right),
        (shared(left.queries, right.queries), shared(left.keys, right.keys)),
    )  # fmt: skip


def compare_orders(picture: Picture) -> Comparison:
    """The mask as written against the mask in the kernel's token order. Raises UsageError if these are the same."""
    if not picture.reordered:
        raise UsageError("this mask has no token order of its own: add a line  order REGION stored by COORDINATE")
    rows = picture.rows
    moved = rows if picture.query_order is None else rows.permute_rows(picture.query_order)
    moved = moved if picture.key_order is None else moved.permute_columns(picture.key_order)
    plain = build_tile_map(rows, picture.choice.block_m, picture.choice.block_n)
    written = replace(
        picture,
        tiles=plain,
        tile_pixels=sampled_tiles(plain),
        figures=figures_of(Lowered(Form.ROW, rows), plain, None),
        query_order=None,
        key_order=None,
    )
    stored = replace(
        picture,
        lowered=Lowered(Form.ROW, moved),
        make_rows=lambda: moved,
        mask_pixels=sampled(moved),
        explain=_explain_slots(picture),
        queries=in_slots(picture.queries, picture.query_order),
        keys=in_slots(picture.keys, picture.key_order),
    )
    stored = replace(stored, query_order=None, key_order=None)
    return replace(compare(written, stored, "as written", "as stored for the kernel"), orders=True)


def _explain_slots(picture: Picture) -> Callable[[int, int], Reason]:
    return lambda query_slot, key_slot: picture.explain(*picture.tokens_in(query_slot, key_slot))
