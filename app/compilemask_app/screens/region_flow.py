"""Regions from the matrix: added, renamed, given another size and taken out, on the side on which they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilemask_app.composing import region_matrix, removing, renaming
from compilemask_app.composing.region_matrix import RegionMatrix
from compilemask_app.composing.text_edits import TextEdit
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.entry_prompt import EntryPrompt
from compilemask_app.screens.shape_flow import ShapeFlow
from compilemask_app.widgets.region_matrix_view import RegionMatrixView

if TYPE_CHECKING:
    from compilemask_app.screens.compose_flow import ComposeFlow
    from compilemask_app.screens.design_core import DesignCore

SIZES = "a number, a parameter, a list (one region per entry), or grid(height, width)"


class RegionFlow:
    """One change of the region at a place of the matrix: that of its row, or of its column on the heads."""

    def __init__(self, screen: DesignCore, flow: ComposeFlow, matrix: RegionMatrix, row: int, column: int) -> None:
        self._screen, self._flow, self._matrix = screen, flow, matrix
        self._region = matrix.region(row, column)
        self._title = matrix.title(row, column)

    async def change(self, what: str) -> None:
        """`what` is add, rename, resize, split, repeat or delete."""
        match what:
            case "add":
                await self._add()
            case "rename":
                await self._rename()
            case "resize":
                await self._resize()
            case "delete":
                self._delete()
            case "split":
                await self._shape.split()
            case _:
                await self._shape.repeat()

    @property
    def _shape(self) -> ShapeFlow:
        return ShapeFlow(self._screen, self._flow, self._matrix, self._region, self._title)

    async def _add(self) -> None:
        entry = self._flow.entry(self._added, lambda typed: typed.partition(":")[2].strip())
        note = "name : size    for instance  draft : 16   or  answer : [512] * 4"
        prompt = EntryPrompt(f"A region after {self._title}", "", note, entry, self._added_problem)
        answer = await self._screen.app.ask(prompt)
        if answer:
            self._flow.write(*entry.written(answer))
            self._screen.query_one(RegionMatrixView).go_to(answer.partition(":")[0].strip())

    def _added(self, typed: str) -> tuple[TextEdit, ...]:
        name, colon, size = typed.partition(":")
        if not colon:
            return ()
        return (region_matrix.add_region(self._region, name.strip(), size.lstrip()),)

    def _added_problem(self, typed: str) -> str | None:
        name, colon, size = typed.partition(":")
        if not colon or not size.strip():
            return f"and its size, for instance  {name.strip() or 'answer'} : 16"
        return renaming.name_problem(self._matrix.file, name.strip(), self._region.leaf)

    async def _rename(self) -> None:
        old, file = self._region.name, self._matrix.file
        prompt = Prompt(
            f"Rename {old}",
            old,
            "in the layout and in every rule",
            check=lambda text: None if text == old else renaming.name_problem(file, text),
        )
        answer = await self._screen.app.ask(prompt)
        if answer and answer != old:
            self._flow.write(*renaming.rename_region(file, old, answer))

    async def _resize(self) -> None:
        old = region_matrix.size_text(self._region)
        entry = self._flow.entry(lambda typed: (region_matrix.resize_region(self._region, typed),))
        answer = await self._screen.app.ask(EntryPrompt(f"Size of {self._title}", old, SIZES, entry))
        if answer and answer.strip() != old:
            self._flow.write(*entry.written(answer.strip()))

    def _delete(self) -> None:
        name = self._region.name
        edits = removing.delete_region(self._matrix, self._region)
        if not edits:
            self._screen.notify(f"{name} is all that its block holds; the text can take out the block")
            return
        self._flow.write(*edits)
        if len(edits) > 1:
            lines = "a line" if len(edits) == 2 else f"{len(edits) - 1} lines"
            self._screen.notify(f"{lines} about {name} alone went with it; ctrl+z brings all back")
