"""Choose the relation of a cell of the region matrix, with a picture of the mask that each would make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from compilemask_app.composing.relations import Suggestion
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.screens.dialogs import Dialog
from compilemask_app.widgets.preview import Preview

if TYPE_CHECKING:
    from compilemask_app.application import Workbench


class RelationScreen(Dialog[str | None]):
    """Answers a relation; an empty text hides the cell. `request_for` gives the text that a relation would make."""

    app: Workbench

    def __init__(
        self,
        title: str,
        current: str,
        suggestions: tuple[Suggestion, ...],
        request_for: Callable[[str], CompileRequest | None],
    ) -> None:
        super().__init__()
        self._title, self._current = title, current
        self._suggestions = suggestions
        self._request_for = request_for

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title")
            yield Input(self._current, placeholder="type a relation, or choose one below", compact=True)
            with Horizontal(id="columns"):
                yield OptionList(*[Option(_label(item)) for item in self._suggestions], id="found")
                yield Preview(self.app.services.compile, id="preview")

    def on_mount(self) -> None:
        self.query_one("#found").focus()
        hows = [item.how for item in self._suggestions]
        if self._current in hows:
            self.query_one("#found", OptionList).highlighted = hows.index(self._current)

    def _show(self, how: str) -> None:
        request = self._request_for(how)
        preview = self.query_one(Preview)
        if request is not None:
            preview.ask(request)
        else:
            preview.say("as it is now")

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._show(self._suggestions[event.option_index].how)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.answer(self._suggestions[event.option_index].how)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value.strip() and event.value != self._current:
            self._show(event.value.strip())

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        self.answer(event.value.strip())


def _label(item: Suggestion) -> Text:
    return Text.assemble((item.how or "hide", "bold"), "\n", (item.meaning, "dim"), no_wrap=True, overflow="ellipsis")
