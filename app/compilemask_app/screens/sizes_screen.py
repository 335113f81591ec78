"""The sizes of a mask that another one is compared with, until both have the same lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Label, Static

from compilemask_app.composing.sizes import in_words, with_sizes
from compilemask_app.jobs.compile_job import Broken, CompileRequest, CompileThread, Outcome
from compilemask_app.messages import MaskBroken, MaskReady
from compilemask_app.picture import MaskPicture
from compilemask_app.screens.dialogs import Dialog

if TYPE_CHECKING:
    from compilemask_app.application import Workbench


class SizesScreen(Dialog[str | None]):
    """Answers the text of `other` with the sizes that were typed, once they give it `lengths` (queries, keys).

    `values` are what its parameters begin with. What the sizes make of the mask is said while they are typed.
    """

    app: Workbench
    DEFAULT_CSS = """
    SizesScreen #sizes { height: auto; max-height: 12; margin: 1 0; }
    SizesScreen.-low #sizes { max-height: 7; margin: 0; }
    SizesScreen Label { width: 18; text-style: bold; }
    SizesScreen #sizes Input { width: 1fr; }
    SizesScreen #found { height: auto; }
    """

    def __init__(self, other: CompileRequest, lengths: tuple[int, int], values: dict[str, str]) -> None:
        super().__init__()
        self._other, self._lengths, self._values = other, lengths, dict(values)
        self._thread: CompileThread | None = None
        self._asked = 0
        self._fits: str | None = None
        self._entered = False

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(f"Sizes of {self._other.name}", classes="title")
            yield Static(f"to compare it with {in_words(*self._lengths)} of this mask")
            with VerticalScroll(id="sizes", can_focus=False):
                for name, value in self._values.items():
                    with Horizontal():
                        yield Label(name)
                        yield Input(value, compact=True, name=name)
            yield Static("", id="found")
            yield Static("tab next   enter compares   esc goes back", classes="note")

    def on_mount(self) -> None:
        self._thread = CompileThread(self.app.services.compile, self._deliver, tiles=False)
        self._try()

    def on_unmount(self) -> None:
        if self._thread is not None:
            self._thread.stop()

    @property
    def _text(self) -> str:
        return with_sizes(self._other.text, self._values)

    def _try(self) -> None:
        """Compile with the sizes as they are typed now."""
        self._asked += 1
        self._fits = None
        if self._thread is not None:
            other = self._other
            request = CompileRequest(self._asked, other.name, self._text, other.folder, other.parameters, other.choice)
            self._thread.submit(request)

    def _deliver(self, outcome: Outcome) -> None:
        """From the thread."""
        if isinstance(outcome, Broken):
            self.post_message(MaskBroken(outcome.revision, outcome.diagnostics))
        else:
            self.post_message(MaskReady(outcome))

    @on(Input.Changed)
    def _typed(self) -> None:
        """The values as they stand now, whichever of them changed."""
        values = {field.name: field.value for field in self.query(Input).results(Input) if field.name is not None}
        if values != self._values:
            self._values = values
            self._entered = False
            self._try()

    @on(Input.Submitted)
    def _enter(self) -> None:
        """Compare; what is not known yet is waited for."""
        self._typed()
        self._entered = True
        if self._fits is not None:
            self.answer(self._fits)

    def key_down(self) -> None:
        self.focus_next(Input)

    def key_up(self) -> None:
        self.focus_previous(Input)

    @on(MaskReady)
    def _ready(self, message: MaskReady) -> None:
        message.stop()
        if message.mask.revision == self._asked:
            self._judge(message.mask)

    @on(MaskBroken)
    def _broken(self, message: MaskBroken) -> None:
        message.stop()
        if message.revision == self._asked:
            self._entered = False
            first = message.diagnostics[0] if message.diagnostics else None
            self._say(first.message if first else "it does not compile", "error")

    def _judge(self, mask: MaskPicture) -> None:
        lengths = mask.query_length, mask.key_length
        if lengths == self._lengths:
            self._fits = self._text
            self._say(f"{in_words(*lengths)}: the same number of tokens, enter compares", "success")
            if self._entered:
                self.answer(self._fits)
        else:
            self._entered = False
            wanted = in_words(*self._lengths)
            self._say(
                f"{in_words(*lengths)} with these sizes, and {wanted} here: change them until they agree", "warning"
            )

    def _say(self, words: str, colour: str) -> None:
        self.query_one("#found", Static).update(Text(words, style=self.app.theme_variables.get(colour, "")))
