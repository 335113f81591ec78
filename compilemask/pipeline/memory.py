"""Memory of arrays is kept for the next arrays instead of being given back and asked for again, page by page."""

from __future__ import annotations

import numpy as np

LARGEST_KEPT = 31 << 20  # glibc learns from blocks of up to 32 MiB


def keep_freed_memory() -> None:
    """Let the C library reuse blocks below 32 MiB, as it does by itself once it has seen one of that size freed.

    For programs to call at their start, not for a library: it is a setting of the whole process. The first masks that
    a process compiles take a fifth to a third less time then, unless torch is loaded; later ones take the same.

    glibc gives blocks above a threshold back to the system when they are freed, and sets the threshold to the largest
    block freed so far. The block here is never touched, so it takes no memory; other C libraries take no notice.
    """
    np.empty(LARGEST_KEPT, np.uint8)
