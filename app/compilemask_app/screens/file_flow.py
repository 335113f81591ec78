"""Files of the design screen: open, save, autosave, the guard of unsaved text, changes by other programs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from compilemask.errors import UsageError
from compilemask_app import document as files
from compilemask_app.document import Document
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.title_bar import TitleBar

if TYPE_CHECKING:
    from compilemask.imports import Imported
    from compilemask_app.screens.design import DesignScreen
    from compilemask_app.screens.dialogs import Dialog

AUTOSAVE_S = 1.0
LOOK_OUTSIDE_S = 2.0


class FileFlow:
    """Which document is open and how it relates to the disk."""

    def __init__(self, screen: DesignScreen, document: Document) -> None:
        self._screen = screen
        self.document = document
        self._autosave: Timer | None = None
        self._warned_of: tuple[int, int] | None = None

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from the file, or from the library mask or new text it began as.

        A library mask with values given at start is not written over, so these alone are nothing to save.
        """
        document = self.document
        return self._screen.text not in (document.text, document.start if document.library else document.text)

    def announce(self) -> None:
        """Name and state in the title; offer a text kept by an earlier session that ended before saving."""
        self._title()
        self._screen.set_interval(LOOK_OUTSIDE_S, self._look_outside)
        kept = files.unsaved_text(self._folder(), self.document)
        if kept is not None:
            self.document = files.with_kept_data(self._folder(), self.document)
            self._screen.query_one(MaskEditor).load_text(kept)
            self._screen.notify("The text that was not saved last time is back; ctrl+z brings the file's.", timeout=8)

    def text_changed(self) -> None:
        """After an edit: title now, copy to the side soon."""
        self._title()
        if self._autosave is not None:
            self._autosave.stop()
        self._autosave = self._screen.set_timer(AUTOSAVE_S, self.keep)

    def keep(self) -> None:
        """Keep an unsaved text beside, so that a kill loses nothing."""
        if self.unsaved:
            files.keep_unsaved(self._folder(), self.document, self._screen.text)
        else:
            files.forget_unsaved(self._folder(), self.document)

    def stop(self) -> None:
        """No more timers."""
        if self._autosave is not None:
            self._autosave.stop()

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
            files.forget_unsaved(self._folder(), self.document)
        return answer == "Discard"

    async def save(self, *, over: bool = False) -> bool:
        """Write the text to its file, asking for one if it has none of its own."""
        document = self.document
        if document.path is None or document.library:
            return await self.save_as(over=over)
        return self._write(document.path)

    async def save_as(self, *, over: bool = False) -> bool:
        """Write the text to a file that the user names."""
        from compilemask_app.screens.dialogs import Prompt, Question

        name = self.document.path.name if self.document.path else "new.mask"
        note = "a path; mask files end in .mask"
        prompt = Prompt("Save as", str(Path.cwd() / name), note, check=lambda path: None if path.strip() else note)
        answer = await self._ask(prompt, over=over)
        if not answer:
            return False
        path = Path(answer).expanduser()
        if path.exists() and path != self.document.path:
            sure = await self._ask(
                Question("Write over it?", f"{path} exists already.", ("Keep it", "Write over it")), over=over
            )
            if sure != "Write over it":
                return False
        return self._write(path)

    async def begin_new(self) -> None:
        """A small mask to start from."""
        if await self.may_lose_text():
            self._show(files.new_document())

    async def begin_imported(self, mask: Imported, path: Path) -> bool:
        """A text that is not saved yet, to be saved under the path with the numbers that it names; whether it is shown.

        Raises UsageError where the numbers can't be kept until then.
        """
        if not await self.may_lose_text():
            return False
        files.forget_unsaved(self._folder(), self.document)
        document = replace(files.new_document(path), text="", begun=mask.text)
        if mask.data_name is not None and mask.data is not None:
            document = await asyncio.to_thread(files.keep_data, self._folder(), document, mask.data_name, mask.data)
        self._show(document)
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

    def _show(self, document: Document) -> None:
        if document.data is None:
            files.forget_unsaved(self._folder(), self.document)
        self.document = document
        self._screen.begin_document(document.start)
        self._title()
        if document.path is not None and document.stamp is not None and not document.library:
            self._screen.app.remember_opened(document.path)

    def _keep_as(self, document: Document) -> None:
        """The same mask as it is on the disk now."""
        self._screen.carry_results(self.document, document)
        self.document = document

    def _write(self, path: Path) -> bool:
        before = self.document
        try:
            self._keep_as(files.write(before, self._screen.text, path))
        except UsageError as error:
            self._screen.notify(str(error), severity="error")
            return False
        files.forget_unsaved(self._folder(), before)
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

    def _look_outside(self) -> None:
        document = self.document
        if not files.changed_outside(document) or document.path is None:
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
                    "Another program changed the file. Saving here writes over it; opening it again takes its text.",
                    severity="warning",
                    timeout=10,
                )
            return
        self._keep_as(fresh)
        self._screen.query_one(MaskEditor).replace_all(fresh.text)
        self._title()
        self._screen.notify("Another program changed the file; its text is shown.")
