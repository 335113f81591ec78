"""Choose the relation of a cell of the region matrix, with a picture of the mask that each would make."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from compilemask_app.composing.entry import Entry
from compilemask_app.composing.relations import Suggestion, matching
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.screens.picker import Picker, PickList
from compilemask_app.widgets.preview import Preview

if TYPE_CHECKING:
    from compilemask_app.application import Workbench


class RelationScreen(Picker):
    """Answers a relation; an empty text hides the cell. `request_for` gives the text that a relation would make."""

    app: Workbench
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "take", "Edit")]

    def __init__(
        self,
        title: str,
        current: str,
        suggestions: tuple[Suggestion, ...],
        request_for: Callable[[str], CompileRequest | None],
        entry: Entry,
    ) -> None:
        super().__init__()
        self._title, self._current = title, current
        known = any(item.how == current for item in suggestions)
        self._suggestions = suggestions if known else (Suggestion(current, "as it is now"), *suggestions)
        self._shown: tuple[Suggestion, ...] = ()
        self._request_for = request_for
        self._entry = entry
        self._offered: str | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title")
            yield Input(placeholder="type to find or write one; tab edits the chosen one", compact=True)
            with Horizontal(id="columns"):
                yield PickList(id="found")
                yield Preview(self.app.services.compile, id="preview")
            yield Static("", classes="note")

    def on_mount(self) -> None:
        self._say("")
        hows = [item.how for item in self._suggestions]
        self._fill(self._suggestions, hows.index(self._current))

    def _fill(self, shown: tuple[Suggestion, ...], chosen: int) -> None:
        self._shown = shown
        self.found.clear_options()
        self.found.add_options(_options(shown))
        self.found.highlighted = chosen

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index >= len(self._shown):  # the list has been filled anew since
            return
        request = self._request_for(self._shown[event.option_index].how)
        preview = self.query_one(Preview)
        if request is not None:
            preview.ask(request)
        else:
            preview.say("as it is now")

    @on(OptionList.OptionSelected)
    async def _clicked(self, event: OptionList.OptionSelected) -> None:
        if event.option_index < len(self._shown):
            await self._take(self._shown[event.option_index].how)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._offered = None
        self._say("")
        if event.value.strip():
            self._fill(*matching(self._suggestions, event.value))
        else:
            self.on_mount()

    @on(Input.Submitted)
    async def _entered(self) -> None:
        if self.found.highlighted is not None:
            await self._take(self._shown[self.found.highlighted].how)

    async def _take(self, how: str) -> None:
        """Answer a relation, unless the compiler says something against it; the same again takes the offer."""
        wrong = None
        if how not in ("", self._current, self._offered):
            wrong = await asyncio.to_thread(self._entry.problem, how)
        if wrong is None:
            self.answer(how)
            return
        words, offered = await asyncio.to_thread(self._entry.with_offer, wrong, how)
        self._offered = how if offered else None
        self._say(words)

    def _say(self, words: str) -> None:
        """What is wrong, in the last lines; they take no room while nothing is."""
        note = self.query_one(".note", Static)
        note.update(Text(words, style=self.app.theme_variables.get("error", "red")))
        note.display = bool(words)

    def action_take(self) -> None:
        """Put the chosen relation into the line, to change it."""
        if self.found.highlighted is not None:
            line = self.query_one(Input)
            line.value = " ".join(self._shown[self.found.highlighted].how.split())
            line.cursor_position = len(line.value)


def _options(shown: tuple[Suggestion, ...]) -> Iterable[Option | None]:
    """The relations, with a rule between those that the file names and the others."""
    yield from map(_option, shown[:1])
    for before, item in pairwise(shown):
        if before.own and not item.own:
            yield None
        yield _option(item)


def _option(item: Suggestion) -> Option:
    return Option(Text.assemble((item.label, "bold"), "\n", (item.meaning, "dim"), no_wrap=True, overflow="ellipsis"))
