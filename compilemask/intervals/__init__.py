"""From rules to visible intervals, and set algebra on intervals."""

from compilemask.intervals.coverage import Coverage
from compilemask.intervals.interval_set import Intervals

__all__ = ["Coverage", "Intervals"]
