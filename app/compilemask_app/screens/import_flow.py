"""Import: another program's array becomes a new, unsaved text."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from compilemask.errors import UsageError
from compilemask.imports import EXPECTED, FLASHMASK_BOUNDS, Form, guess, imported, read_array
from compilemask.language.files import LARGEST_JSON
from compilemask.text_files import read_text
from compilemask_app.screens.dialogs import Prompt, Question

if TYPE_CHECKING:
    from compilemask.imports.arrays import Array
    from compilemask_app.screens.design import DesignScreen

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

    def __init__(self, screen: DesignScreen) -> None:
        self._screen = screen

    async def ask(self) -> None:
        """The whole way; a wrong file ends it with one message."""
        app = self._screen.app
        answer = await app.ask(Prompt("Import", f"{Path.cwd()}/", NOTE))
        if not answer:
            return
        path = Path(answer).expanduser()
        try:
            array = await asyncio.to_thread(read_array, path)
            form = await app.ask(self._question(path, array))
            if form is not None:
                await self._open(path, array, form)
        except UsageError as error:
            self._screen.notify(str(error), title="Import", severity="error", timeout=10)

    def _question(self, path: Path, array: Array) -> Question:
        answers = fitting(array)
        if not answers:
            known = "\n".join(f"{form.value}: {EXPECTED[form]}" for form in Form)
            raise UsageError(f"{path.name} holds {array.dtype} {list(array.shape)}; expected one of\n{known}")
        return Question("Import", f"{path.name} holds {array.dtype} {list(array.shape)}. It says", answers)

    async def _open(self, path: Path, array: Array, answer: str) -> None:
        form, causal = FORMS[answer]
        mask = await asyncio.to_thread(imported, array, form, path.stem, causal=causal)
        target = _free(path.with_suffix(".mask"))
        if mask.data_name is not None:
            await asyncio.to_thread(_refuse_others, target.parent / mask.data_name, mask.data or "")
        if not await self._screen.files.begin_imported(mask, target):
            return
        with_data = f" and its many numbers as {mask.data_name}" if mask.data_name else ""
        self._screen.notify(f"{answer} of {path.name}; ctrl+s saves it as {target.name}{with_data}", title="Import")


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
