"""What the command tells the shell."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """GOOD; NO: the answer is no, or the mask is too large for the question; WRONG_USE: the command line is wrong;
    UNABLE: this machine can't; BUG: our defect.
    """

    GOOD = 0
    NO = 1
    WRONG_USE = 2
    UNABLE = 3
    BUG = 70
    INTERRUPTED = 130
