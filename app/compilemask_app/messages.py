"""What widgets and jobs tell the screen. Jobs post these from their threads; only handlers change the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from compilemask.source import Diagnostic
    from compilemask.worker_protocol import Job, Reply
    from compilemask_app.drawing.viewport import Viewport
    from compilemask_app.picture import MaskPicture, Picture


@dataclass
class ViewChanged(Message):
    """A map was moved, zoomed or pointed at; every map shall show this.

    `in_slots`: the cursor counts the kernel's slots, not the tokens as written. `by` is the id of the map.
    """

    view: Viewport
    in_slots: bool = False
    by: str | None = None


@dataclass
class MapResized(Message):
    """A map has other room than before."""


@dataclass
class OverlayWanted(Message):
    """The next overlay shall be drawn."""


@dataclass
class FindWanted(Message):
    """Go to the next (1) or the last (-1) cell of a kind: `empty_row`, `partial_tile`."""

    kind: str
    direction: int


@dataclass
class MaskReady(Message):
    """The mask of a revision can be drawn; its tiles follow."""

    mask: MaskPicture

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MaskReady)


@dataclass
class PictureReady(Message):
    """A revision of the text has been compiled, tiles and all."""

    picture: Picture

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PictureReady)


@dataclass
class MaskBroken(Message):
    """A revision of the text does not compile."""

    revision: int
    diagnostics: tuple[Diagnostic, ...]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MaskBroken)


@dataclass
class WorkerReplied(Message):
    """The measuring process said something."""

    reply: Reply


@dataclass
class WorkerLost(Message):
    """The measuring process ended, or could not be started; `jobs` were in its hands."""

    reason: str
    jobs: tuple[Job, ...]
