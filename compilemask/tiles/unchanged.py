"""Partial tiles of the same cells as their left neighbour: long runs pass both, and no run begins or ends in either.

Of such neighbours only the first has to be cut into pieces and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from compilemask.tiles.build import Group, Judged

PIECES_PER_RUN = 2  # where runs touch fewer partial tiles, looking for such neighbours costs as much as it saves


def unchanged_tiles(group: Group, judged: Judged, base: NDArray[np.integer], block_n: int) -> NDArray[np.bool_] | None:
    """[partial tiles] which of them repeat the tile before them; None where that would save little."""
    size = judged.partial.size
    touched = int(judged.high.sum(dtype=np.int64)) - int(judged.low.sum(dtype=np.int64))
    if touched <= PIECES_PER_RUN * judged.low.size:
        return None
    partial = np.append(judged.partial, -1)  # ranks before the first and behind the last tile meet -1
    border, inner = np.zeros(size + 1, np.bool_), np.zeros(size + 1, np.bool_)
    for places, is_end in ((group.starts, False), (group.ends, True)):
        tile = places // block_n
        inside = tile * block_n != places
        # A run that ends at a border of tiles ends in front of the tile behind its last one.
        rank = judged.high - inside if is_end else judged.low
        met = partial[rank] == base + tile
        border[rank[met]] = True
        inner[rank[met & inside]] = True
    unchanged = np.zeros(size, np.bool_)
    np.equal(partial[1:-1], partial[:-2] + 1, out=unchanged[1:])
    unchanged[1:] &= ~(inner[:-2] | border[1:-1])
    return unchanged
