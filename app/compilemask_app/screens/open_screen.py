"""Open: library masks and recent files in one list, with a picture and the text of the one under the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from compilemask import library
from compilemask.errors import UsageError
from compilemask_app.document import document_of
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.screens.picker import Picker, PickList
from compilemask_app.widgets.preview import Preview

if TYPE_CHECKING:
    from compilemask_app.application import Workbench


class OpenScreen(Picker):
    """Answers a library name or a path; the list is `without` one of them."""

    app: Workbench

    def __init__(self, recent: tuple[str, ...], title: str = "Open a mask", without: str = "") -> None:
        super().__init__()
        self._title = title
        left_out = Path(without).resolve()
        self._recent = tuple(path for path in recent if Path(path).is_file() and Path(path).resolve() != left_out)
        self._names = [name for name in library.names() if name != without]
        self._shown: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title")
            yield Input(placeholder="type a part of a name, or a path", compact=True)
            with Horizontal(id="columns"):
                yield PickList(id="found")
                with Vertical():
                    yield Static(id="about")
                    yield Preview(self.app.services.compile, id="preview")

    def on_mount(self) -> None:
        self._fill("")

    @property
    def entries(self) -> tuple[str, ...]:
        """All that can be chosen: recent files, then the library."""
        return (*self._recent, *self._names)

    def fill_again(self) -> None:
        """Other words for the same entries; the chosen one stays chosen."""
        found = self.found
        for place, entry in enumerate(self._shown):
            found.replace_option_prompt_at_index(place, self.label(entry))
        if found.highlighted is not None:
            self._look(self._shown[found.highlighted])

    def _fill(self, typed: str) -> None:
        words = typed.lower().split()
        self._shown = [entry for entry in self.entries if all(word in entry.lower() for word in words)]
        found = self.found
        found.clear_options()
        found.add_options([Option(self.label(entry)) for entry in self._shown])
        if self._shown:
            found.highlighted = 0
        else:
            self.query_one("#about", Static).update(
                "no library mask of this name; enter opens it as a path" if typed else "the library is empty"
            )

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        found = self.found
        if self._shown and found.highlighted is not None:
            self.answer(self._shown[found.highlighted])
        elif event.value.strip():
            self._open_path(event.value.strip())

    def _open_path(self, typed: str) -> None:
        """A path that no list has; what is typed stays where there is no mask."""
        try:
            document_of(typed)
        except UsageError as error:
            colour = self.app.theme_variables.get("error", "red")
            self.query_one("#about", Static).update(Text(str(error), style=colour))
        else:
            self.answer(typed)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if event.option_index < len(self._shown):
            self.answer(self._shown[event.option_index])

    @on(OptionList.OptionHighlighted)
    def _look_at(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index >= len(self._shown):  # the list has been filled anew since
            return
        self._look(self._shown[event.option_index])

    def _look(self, entry: str) -> None:
        about = self.query_one("#about", Static)
        try:
            document = document_of(entry)
        except UsageError as error:
            about.update(Text(str(error)))
            return
        about.update(self.about(entry, in_library=document.library))
        self.query_one(Preview).ask(CompileRequest(0, document.name, document.text, document.folder))

    def label(self, entry: str) -> Text:
        """An entry in the list."""
        path = Path(entry)
        if path.suffix:
            return Text.assemble(path.name, ("  recent", "dim"), no_wrap=True, overflow="ellipsis")
        return Text(entry, no_wrap=True, overflow="ellipsis")

    def about(self, entry: str, *, in_library: bool) -> Text:
        """What stands beside the list."""
        if not in_library:
            return Text(entry, style="dim")
        header = library.header(entry)
        title = (header.title or entry, "bold")
        return Text.assemble(title, "\n", (header.idea, ""), "\n", (header.source, "dim"), "\n")
