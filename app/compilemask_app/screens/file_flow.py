"""Files of the design screen: open, save, autosave, the guard of unsaved text, changes by other programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from compilemask.errors import UsageError
from compilemask_app import document as files
from compilemask_app.autosave import Autosave
from compilemask_app.document import Document
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.title_bar import TitleBar

if TYPE_CHECKING:
    from compilemask.imports import Imported
    from compilemask_app.screens.design_core import DesignCore
    from compilemask_app.screens.dialogs import Dialog

AUTOSAVE_S = 1.0
BESIDE_ANOTHER = (
    "Another workbench has unsaved text of this mask too. Each keeps its own; who saves last writes the file."
)
LOOK_OUTSIDE_S = 2.0
OVER, TAKE, STAY = "Write over it", "Take the file's text", "Stay"
"""Answers where another program changed the file; each begins with a letter of its own, and the safe one is first."""


class FileFlow:
    """Which document is open and how it relates to the disk."""

    def __init__(self, screen: DesignCore, document: Document) -> None:
        self._screen = screen
        self.document = document
        self._kept: Autosave | None = None
        self._autosave: Timer | None = None
        self._warned_of: tuple[int, int] | None = None
        self._on_disk = ""

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from the file, or from the library mask or new text it began as.

        A library mask with values given at start is not written over, so these alone are nothing to save.
        """
        document = self.document
        return self._screen.text not in (document.text, document.start if document.library else document.text)

    @property
    def folder(self) -> Path:
        """Where files about this mask are looked for and written first: beside it, if it has a file of its own."""
        path = self.document.path
        return path.resolve().parent if path is not None and not self.document.library else Path.cwd()

    def announce(self) -> None:
        """Name and state in the title; offer a text kept by an earlier session that ended before saving."""
        self._title()
        self._screen.set_interval(LOOK_OUTSIDE_S, self._look_outside)
        self._bring_back()

    def _bring_back(self) -> None:
        """The text of an earlier session that ended before saving, if there is one."""
        found = self.kept.left_behind()
        if found is not None:
            self.document, text = found
            self._screen.query_one(MaskEditor).replace_all(text)
            self._screen.notify("The text that was not saved last time is back; ctrl+z brings the file's.", timeout=8)

    def text_changed(self) -> None:
        """After an edit: title now, copy to the side soon."""
        self._title()
        if self._autosave is not None:
            self._autosave.stop()
        self._autosave = self._screen.set_timer(AUTOSAVE_S, self.keep)

    def keep(self) -> None:
        """Keep an unsaved text beside, so that a kill loses nothing."""
        if not self.unsaved:
            self.kept.forget()
            return
        told = self.kept.beside_another
        self.kept.keep(self._screen.text)
        if self.kept.beside_another and not told:
            self._screen.notify(BESIDE_ANOTHER, severity="warning", timeout=10)

    def keep_at_the_end(self) -> None:
        """The same when there is nobody to be told anything, and perhaps in another thread."""
        if self.unsaved:
            self.kept.keep(self._screen.text)

    @property
    def kept(self) -> Autosave:
        """The unsaved text of the document that is open."""
        if self._kept is None:
            self._kept = Autosave(self._folder(), self.document)
        return self._kept

    def stop(self) -> None:
        """No more timers; a text that is not saved is left to the next workbench."""
        if self._autosave is not None:
            self._autosave.stop()
        self.kept.release()

    # ------------------------------------------------------------ what the user does

    async def may_lose_text(self, *, over: bool = False) -> bool:
        """Whether the text is saved, or the user saves it or gives it up now; asked `over` another dialog if so."""
        if not self.unsaved:
            return True
        from compilemask_app.screens.dialogs import Question

        text = f"{self.document.name} has changes that are not saved."
        answer = await self._ask(Question("Unsaved text", text, ("Save", "Discard", "Stay")), over=over)
        if answer == "Save":
            return await self.save(over=over)
        if answer == "Discard":
            self.kept.forget()
        return answer == "Discard"

    async def save(self, *, over: bool = False) -> bool:
        """Write the text to its file, asking for one if it has none of its own."""
        document = self.document
        if document.path is None or document.library:
            return await self.save_as(over=over)
        return await self._may_write_over(document.path, over=over) and self._write(document.path)

    async def save_as(self, *, over: bool = False) -> bool:
        """Write the text to a file that the user names."""
        from compilemask_app.screens.dialogs import Prompt, Question

        name = self.document.path.name if self.document.path else "new.mask"
        note = "a path; mask files end in .mask"
        prompt = Prompt("Save as", str(self.folder / name), note, check=lambda path: None if path.strip() else note)
        answer = await self._ask(prompt, over=over)
        if not answer:
            return False
        path = Path(answer).expanduser()
        if path.exists() and path != self.document.path:
            sure = await self._ask(Question("Write over it?", f"{path} exists already.", ("Keep it", OVER)), over=over)
            if sure != OVER:
                return False
        elif path == self.document.path and not await self._may_write_over(path, over=over):
            return False
        return self._write(path)

    async def _may_write_over(self, path: Path, *, over: bool) -> bool:
        """Whether the file is as it was read or written here, or the user gives up what another program wrote."""
        from compilemask_app.screens.dialogs import Question

        if not path.exists() or not self._differs_outside():
            return True
        text = f"Another program changed {path.name} since it was read here."
        answer = await self._ask(Question("Changed on disk", text, (STAY, TAKE, OVER)), over=over)
        if answer == TAKE:
            try:
                self._take(files.read(path, parameters=self.document.parameters))
            except UsageError as error:
                self._screen.notify(f"{error}; the text here is kept", severity="error")
        return answer == OVER

    def _differs_outside(self) -> bool:
        """Whether the file holds another text than it did here; one that is only touched holds the same."""
        document = self.document
        if document.path is None or not files.changed_outside(document):
            return False
        try:
            fresh = files.read(document.path)
        except UsageError:
            return True
        if fresh.text == document.text and document.stamp is not None:
            self.document = replace(document, stamp=fresh.stamp)
            return False
        return True

    async def begin_new(self) -> None:
        """A small mask to start from."""
        if await self.may_lose_text():
            self._show(files.new_document())

    def set_aside(self, mask: Imported, path: Path) -> tuple[Document, Autosave]:
        """The document of an imported text, to be saved under the path with the numbers that it names; not shown yet.

        Raises UsageError where the numbers can't be kept until then.
        """
        document = replace(files.new_document(path), text="", begun=mask.text)
        kept = Autosave(self._folder(), document)
        if mask.data_name is not None and mask.data is not None:
            document = kept.keep_data(mask.data_name, mask.data)
        return document, kept

    async def begin_imported(self, document: Document, kept: Autosave) -> bool:
        """Show what was set aside; whether it is shown."""
        if not await self.may_lose_text():
            return False
        self._show(document, kept)
        return True

    async def choose(self) -> None:
        """The list of library masks and recent files."""
        from compilemask_app.screens.open_screen import OpenScreen

        wanted = await self._ask(OpenScreen(self._screen.app.settings.recent))
        if wanted:
            await self.open_named(wanted)

    async def open_named(self, name: str) -> None:
        """A library mask by name, or a file by path."""
        if not await self.may_lose_text():
            return
        try:
            document = files.document_of(name)
        except UsageError as error:
            self._screen.notify(str(error), severity="error", timeout=8)
            return
        self._show(document)

    def _show(self, document: Document, kept: Autosave | None = None) -> None:
        """Another document; what is `kept` of it already, or what was left behind of it."""
        self.kept.forget()
        self.document, self._kept, self._on_disk = document, kept, ""
        self._screen.begin_document(document.start)
        if kept is None:
            self._bring_back()
        self._title()
        if document.path is not None and document.stamp is not None and not document.library:
            self._screen.app.remember_opened(document.path)

    def _keep_as(self, document: Document) -> None:
        """The same mask as it is on the disk now."""
        self._screen.results.carry(self.document, document)
        self.document, self._on_disk = document, ""

    def _write(self, path: Path) -> bool:
        before = self.document
        try:
            self._keep_as(files.write(before, self._screen.text, path))
        except UsageError as error:
            self._screen.notify(str(error), severity="error")
            return False
        self.kept.forget()
        self._kept = None
        self._title()
        self._screen.app.remember_opened(path)
        self._screen.notify(f"saved {path}")
        return True

    async def _ask(self, dialog: Dialog[str | None], *, over: bool = False) -> str | None:
        return await self._screen.app.ask(dialog, over=over)

    def _folder(self) -> Path:
        return self._screen.app.services.autosave_folder

    def _title(self) -> None:
        title = self._screen.query_one(TitleBar)
        suffix = "" if self.document.path is None or self.document.library else ".mask"
        title.name_text = f"{self.document.name}{suffix}"
        title.unsaved = self.unsaved
        title.on_disk = self._on_disk

    def _look_outside(self) -> None:
        document = self.document
        differs = self._differs_outside()
        there = document.path is not None and document.path.exists()
        self._on_disk = "" if not differs else "changed on disk" if there else "gone from the disk"
        self._title()
        if not differs or document.path is None:
            return
        try:
            fresh = files.read(document.path, parameters=document.parameters)
        except UsageError as error:
            if self._warned_of != (0, 0):
                self._warned_of = (0, 0)
                self._screen.notify(f"{error}; the text here is kept", severity="warning")
            return
        if self.unsaved:
            if self._warned_of != fresh.stamp:
                self._warned_of = fresh.stamp
                self._screen.notify(
                    "Another program changed the file; the text here is kept. ctrl+s asks which of both to keep.",
                    severity="warning",
                    timeout=10,
                )
            return
        self._take(fresh)
        self._screen.notify("Another program changed the file; its text is shown.")

    def _take(self, fresh: Document) -> None:
        """Show the text that another program wrote; ctrl+z brings back the one before."""
        self._keep_as(fresh)
        self._screen.query_one(MaskEditor).replace_all(fresh.text)
        self._title()
