"""Import: another program's array becomes a new, unsaved text."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from compilemask.errors import UsageError
from compilemask.imports import EXPECTED, FLASHMASK_BOUNDS, Form, guess, imported, read_array
from compilemask.language.files import LARGEST_JSON
from compilemask.text_files import read_text
from compilemask_app.jobs.compile_job import Broken, CompileRequest, guarded
from compilemask_app.screens.dialogs import Question, TryPrompt
from compilemask_app.screens.waiting import under_a_box

if TYPE_CHECKING:
    from compilemask.imports.arrays import Array
    from compilemask_app.autosave import Autosave
    from compilemask_app.document import Document
    from compilemask_app.screens.design_core import DesignCore

FORMS: dict[str, tuple[Form, bool]] = {
    "Dense": (Form.DENSE, False),
    "Row endpoints": (Form.ENDPOINTS, False),
    "FlashMask": (Form.FLASHMASK, False),
    "FlashMask, causal": (Form.FLASHMASK, True),
    "Documents": (Form.CU_SEQLENS, False),
    "Documents, causal": (Form.CU_SEQLENS, True),
}
"""What can be answered: the form, and whether it is causal."""

NOTE = "a .npy file: a dense array, cuDNN or HSTU row endpoints, FlashMask startend_row_indices, or cu_seqlens"


class ImportFlow:
    """Asks for a file and for what it says, and opens the text that comes of it."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen

    async def ask(self) -> None:
        """The whole way; a wrong file is refused in the line, a mask that does not compile ends it with one message."""
        app = self._screen.app
        found: list[tuple[Path, Array, Question]] = []

        def attempt(typed: str) -> None:
            path = Path(typed).expanduser()
            array = read_array(path)
            found.append((path, array, _question(path, array)))

        if await app.ask(TryPrompt("Import", f"{self._screen.files.folder}/", NOTE, attempt)) is None:
            return
        path, array, question = found[-1]
        try:
            form = await app.ask(question)
            if form is not None:
                await self._open(path, array, form)
        except UsageError as error:
            self._screen.notify(str(error), title="Import", severity="error", timeout=10)

    async def _open(self, path: Path, array: Array, answer: str) -> None:
        form, causal = FORMS[answer]
        target = _free(path.with_suffix(".mask"))
        make = partial(self._made, path, array, form, causal, target)
        words = f"Reading {path.name} as {answer} ..."
        made = await under_a_box(self._screen.app, "Import", words, make, lambda made: made[1].forget())
        if made is None:
            return
        document, kept, data_name = made
        if not await self._screen.files.begin_imported(document, kept):
            kept.forget()
            return
        with_data = f" and its many numbers as {data_name}" if data_name else ""
        self._screen.notify(f"{answer} of {path.name}; ctrl+s saves it as {target.name}{with_data}", title="Import")

    def _made(
        self, path: Path, array: Array, form: Form, causal: bool, target: Path
    ) -> tuple[Document, Autosave, str | None]:
        """A document that compiles, before there is anything to lose. Raises UsageError."""
        mask = imported(array, form, path.stem, causal=causal)
        if mask.data_name is not None:
            _refuse_others(target.parent / mask.data_name, mask.data or "")
        document, kept = self._screen.files.set_aside(mask, target)
        request = CompileRequest(0, document.name, document.start, document.folder, document.parameters)
        outcome = guarded(self._screen.app.services.compile, request)
        if isinstance(outcome, Broken):
            kept.forget()
            raise UsageError(f"{path.name} is no mask that compiles: {outcome.diagnostics[0].message}")
        return document, kept, mask.data_name


def _question(path: Path, array: Array) -> Question:
    """Asks what an array says. Raises UsageError for one that can say nothing."""
    answers = fitting(array)
    if not answers:
        known = "\n".join(f"{form.value}: {EXPECTED[form]}" for form in Form)
        raise UsageError(f"{path.name} holds {array.dtype} {list(array.shape)}; expected one of\n{known}")
    return Question("Import", f"{path.name} holds {array.dtype} {list(array.shape)}. It says", answers)


def _refuse_others(path: Path, content: str) -> None:
    """Before there is anything to lose. Raises UsageError for a file of other numbers, or one that is no text."""
    if path.exists() and read_text(path, LARGEST_JSON) != content:
        raise UsageError(f"the numbers would go into {path}, which holds others; move it away first")


def fitting(array: Array) -> tuple[str, ...]:
    """The answers that make sense for an array, the likeliest first."""
    likely = guess(array)
    forms = [likely] if likely is not None else []
    if array.ndim in (2, 4) and Form.DENSE not in forms:
        forms.append(Form.DENSE)
    if array.ndim == 2 and array.shape[0] % 2 and array.dtype.kind != "b":
        forms.append(Form.ENDPOINTS)
    return tuple(
        words
        for form in forms
        for words, (same, causal) in FORMS.items()
        if same is form and (form is not Form.FLASHMASK or array.shape[-1] in FLASHMASK_BOUNDS[causal])
    )


def _free(path: Path) -> Path:
    """The path, or one with a number where a file is there already."""
    count = 2
    found = path
    while found.exists():
        found = path.with_stem(f"{path.stem}_{count}")
        count += 1
    return found
