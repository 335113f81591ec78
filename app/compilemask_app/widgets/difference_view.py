"""What only one of two masks shows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from textual.reactive import reactive

from compilemask_app.drawing.ink import Ink
from compilemask_app.drawing.regions import Regions
from compilemask_app.drawing.sampling import difference_inks
from compilemask_app.drawing.viewport import Extent
from compilemask_app.jobs.comparing import Comparison
from compilemask_app.widgets.map_view import MapView


class DifferenceView(MapView):
    """Cells of the left mask, of the right mask, and pixels that hold both."""

    comparison: reactive[Comparison | None] = reactive(None, repaint=False)

    def watch_comparison(self) -> None:
        """Another comparison."""
        self.invalidate()

    def headings(self) -> tuple[str, ...]:
        """`DIFFERENCE`."""
        return "DIFFERENCE", "DIFF", ""

    def legend(self) -> tuple[tuple[Ink, str], ...]:
        """Whose cells; `both` is a pixel that holds cells of either."""
        return ((Ink.LEFT_ONLY, "left"), (Ink.RIGHT_ONLY, "right"), (Ink.DIFFERS, "both"))

    def axis_regions(self) -> tuple[Regions, Regions]:
        """Those that both masks have."""
        return super().axis_regions() if self.comparison is None else self.comparison.regions

    def pixels(self, extent: Extent) -> NDArray[np.uint8]:
        """[2 rows, columns] inks of the window."""
        found = self.comparison
        if found is None or extent.rows <= 0 or extent.columns <= 0:
            return np.full((2 * extent.rows, extent.columns), Ink.OUTSIDE, dtype=np.uint8)
        edges = self.view.query_edges(extent.rows), self.view.key_edges(extent.columns)
        return difference_inks(found.left_pixels, found.right_pixels, *edges)
