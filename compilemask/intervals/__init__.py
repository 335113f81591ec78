"""From rules to visible intervals, and set algebra on intervals."""

from compilemask.intervals.interval_set import Intervals

__all__ = ["Intervals"]
