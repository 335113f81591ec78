"""A small picture of a mask that is compiled beside the screen's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from compilemask_app.drawing.ink import Ink
from compilemask_app.drawing.sampling import mask_inks
from compilemask_app.drawing.strips import glyph_rows, half_block_rows
from compilemask_app.drawing.viewport import Extent, Viewport
from compilemask_app.jobs.compile_job import Compile, CompileRequest, CompileThread, Outcome
from compilemask_app.messages import MaskBroken, MaskReady
from compilemask_app.picture import MaskPicture
from compilemask_app.widgets.map_view import Look

if TYPE_CHECKING:
    from compilemask_app.application import Workbench


class Preview(Widget):
    """Shows the newest request that compiled, or why it did not."""

    app: Workbench
    DEFAULT_CSS = "Preview { width: 1fr; height: 1fr; padding: 0 2; }"

    shown: reactive[MaskPicture | Text | None] = reactive(None)

    def __init__(self, compile_: Compile, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._compile = compile_
        self._thread: CompileThread | None = None
        self._asked = 0

    def on_mount(self) -> None:
        self._start()

    def _start(self) -> CompileThread:
        if self._thread is None:
            self._thread = CompileThread(self._compile, self._deliver, tiles=False)
        return self._thread

    def on_unmount(self) -> None:
        if self._thread is not None:
            self._thread.stop()

    def ask(self, request: CompileRequest) -> None:
        """Compile this and show it."""
        self._asked += 1
        self._start().submit(replace(request, revision=self._asked))

    def say(self, text: str) -> None:
        """Show words instead of a picture."""
        self._asked += 1
        self.shown = Text(text, style="dim")

    def _deliver(self, outcome: Outcome) -> None:
        if isinstance(outcome, MaskPicture):
            self.post_message(MaskReady(outcome))
        else:
            self.post_message(MaskBroken(outcome.revision, outcome.diagnostics))

    def on_mask_ready(self, message: MaskReady) -> None:
        message.stop()
        if message.mask.revision == self._asked:
            self.shown = message.mask

    def on_mask_broken(self, message: MaskBroken) -> None:
        message.stop()
        if message.revision == self._asked:
            first = message.diagnostics[0] if message.diagnostics else None
            self.shown = Text(first.render() if first else "no picture")

    def render(self) -> Text:
        """The picture, as large as fits."""
        if not isinstance(self.shown, MaskPicture):
            return self.shown or Text("")
        room = self.content_size
        return thumbnail(self.shown, Extent(room.width, max(1, room.height - 1)), self.app.palette_name, self.app.look)


def thumbnail(picture: MaskPicture, extent: Extent, palette: str, look: Look = Look.COLOUR) -> Text:
    """The whole mask in a few characters, and its size."""
    view = Viewport(picture.query_length, picture.key_length).fitted(extent)
    inks = mask_inks(picture.mask_pixels, view.query_edges(extent.rows), view.key_edges(extent.columns))
    inks = inks[:, : max(1, int((inks[0] != Ink.OUTSIDE).sum()))]
    if look is Look.COLOUR:
        rows = half_block_rows(inks, palette)
    else:
        rows = glyph_rows(inks, None, ascii_only=look is Look.ASCII)
    lines = Text(no_wrap=True)
    for place, segments in enumerate(rows):
        if (inks[2 * place] == Ink.OUTSIDE).all():
            break
        for segment in segments:
            lines.append(segment.text, style=segment.style)
        lines.append("\n")
    size = f"{picture.query_length:,} × {picture.key_length:,}   {picture.density:.1%} visible"
    return lines.append(size, style="dim")
