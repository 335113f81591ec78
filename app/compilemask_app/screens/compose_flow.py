"""The region matrix and the steppers of the design screen: what they ask for becomes edits of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from compilemask.language.parser import parse_tolerant
from compilemask.source import Source
from compilemask_app.composing import region_matrix, removing, renaming
from compilemask_app.composing.definitions import own_suggestions
from compilemask_app.composing.parameters import Number, parameters_of, written
from compilemask_app.composing.region_matrix import RegionMatrix, matrix_of
from compilemask_app.composing.relations import suggestions
from compilemask_app.composing.text_edits import TextEdit, applied, replacing, source_text
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.relation_screen import RelationScreen
from compilemask_app.screens.shape_flow import ShapeFlow
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.parameter_steppers import ParameterSteppers
from compilemask_app.widgets.region_matrix_view import RegionMatrixView

if TYPE_CHECKING:
    from compilemask_app.screens.design_core import DesignCore


class ComposeFlow:
    """Reads the text into the matrix and the steppers, and writes what they ask for back into it."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen
        self._read: str | None = None

    def read_text(self) -> None:
        """After an edit: the matrix and the steppers as the text says now; a text with errors of form locks them."""
        if self._screen.text == self._read:
            return
        self._read = self._screen.text
        parsed = parse_tolerant(Source(self._screen.files.document.name, self._screen.text))
        view = self._screen.query_one(RegionMatrixView)
        view.locked = parsed.diagnostics[0].span.line if parsed.diagnostics and parsed.diagnostics[0].span else 0
        view.matrix = matrix_of(parsed.file)
        self._screen.query_one(ParameterSteppers).parameters = parameters_of(parsed.file)

    def write(self, *edits: TextEdit) -> None:
        """Make edits as one step that can be undone."""
        self._screen.query_one(MaskEditor).make(list(edits))
        self.read_text()  # at once: the next key may be about what has just been made

    def change_number(self, place: int, change: Callable[[Number], TextEdit]) -> None:
        """Change a number of the parameters as the text has it now, so that quick steps add up."""
        self.read_text()
        steppers = self._screen.query_one(ParameterSteppers)
        if place < len(steppers.numbers):
            number = steppers.numbers[place]
            edit = change(number)
            if edit.text != source_text(number.literal.span):
                self.write(edit)

    async def wanted(self, what: str, row: int, column: int) -> None:
        """What the matrix asks for."""
        self.read_text()
        view = self._screen.query_one(RegionMatrixView)
        matrix = view.matrix
        if matrix is None or view.locked:
            self._screen.notify(f"line {view.locked} has an error of form; mend it first", severity="warning")
            return
        if row >= len(matrix.rows) or column >= len(matrix.columns):  # of a text that has changed since
            return
        match what:
            case "pick":
                await self._pick(matrix, row, column)
            case "hide":
                self._hide(matrix, row, column)
            case "add":
                await self._add(matrix, row)
            case "rename":
                await self._rename(matrix, row)
            case "resize":
                await self._resize(matrix, row)
            case "split":
                await ShapeFlow(self._screen).split(matrix, matrix.rows[row])
            case "repeat":
                await ShapeFlow(self._screen).repeat(matrix.rows[row])
            case "delete":
                self._delete(matrix, row)
            case _:
                self._go_to_rule(matrix, row, column)

    def _edit_for(self, matrix: RegionMatrix, row: int, column: int, how: str) -> TextEdit | None:
        if how:
            return region_matrix.set_relation(matrix, row, column, how)
        return region_matrix.hide(matrix, row, column)

    async def _pick(self, matrix: RegionMatrix, row: int, column: int) -> None:
        screen = self._screen
        rules = matrix.effective(row, column)
        current = rules[-1].how if rules and rules[-1].rule.shows else ""
        title = f"{matrix.rows[row].name} sees {matrix.columns[column].name}"

        def request_for(how: str) -> CompileRequest | None:
            edit = self._edit_for(matrix, row, column, how)
            document = screen.files.document
            text = screen.text if edit is None else applied(screen.text, [edit])
            return CompileRequest(0, document.name, text, document.folder, document.parameters)

        offered = (*own_suggestions(matrix.file), *suggestions(matrix, row, column))
        answer = await screen.app.ask(RelationScreen(title, current, offered, request_for))
        if answer is not None and answer != current:
            self._apply(self._edit_for(matrix, row, column, answer))

    def _hide(self, matrix: RegionMatrix, row: int, column: int) -> None:
        edit = region_matrix.hide(matrix, row, column)
        if edit is None:
            self._screen.notify("hidden already")
        self._apply(edit)

    def _apply(self, edit: TextEdit | None) -> None:
        if edit is not None:
            self.write(edit)

    async def _add(self, matrix: RegionMatrix, row: int) -> None:
        prompt = Prompt(
            f"A region after {matrix.rows[row].name}",
            "",
            "name : size    for instance  draft : 16   or  answer : [512] * 4",
            check=lambda text: _region_problem(matrix, text),
        )
        answer = await self._screen.app.ask(prompt)
        if answer:
            name, _, size = answer.partition(":")
            self.write(region_matrix.add_region(matrix, matrix.rows[row], name.strip(), size.strip()))
            self._screen.query_one(RegionMatrixView).go_to(name.strip())

    def _delete(self, matrix: RegionMatrix, row: int) -> None:
        name = matrix.rows[row].name
        edits = removing.delete_region(matrix, matrix.rows[row])
        if not edits:
            self._screen.notify(f"{name} is all that its block holds; the text can take out the block")
            return
        self.write(*edits)
        if len(edits) > 1:
            lines = "a line" if len(edits) == 2 else f"{len(edits) - 1} lines"
            self._screen.notify(f"{lines} about {name} alone went with it; ctrl+z brings all back")

    async def _rename(self, matrix: RegionMatrix, row: int) -> None:
        old = matrix.rows[row].name
        prompt = Prompt(
            f"Rename {old}",
            old,
            "in the layout and in every rule",
            check=lambda text: None if text == old else renaming.name_problem(matrix.file, text),
        )
        answer = await self._screen.app.ask(prompt)
        if answer and answer != old:
            self.write(*renaming.rename_region(matrix.file, old, answer))

    async def _resize(self, matrix: RegionMatrix, row: int) -> None:
        region = matrix.rows[row]
        old = region_matrix.size_text(region)
        note = "a number, a parameter, a list (one region per entry), or grid(height, width)"
        answer = await self._screen.app.ask(Prompt(f"Size of {region.name}", old, note))
        if answer and answer != old:
            self.write(region_matrix.resize_region(region, answer))

    async def type_number(self, place: int, begun: str) -> None:
        """Ask for another value of one number of the parameters, of which a digit is typed already."""
        self.read_text()
        steppers = self._screen.query_one(ParameterSteppers)
        if place >= len(steppers.numbers) or isinstance(steppers.numbers[place].value, bool):
            return
        old = source_text(steppers.numbers[place].literal.span)
        line = steppers.lines[steppers.numbers[place].parameter]
        note = f"in place of {old}" + (f" in {line.text}" if line.text != old else "")
        prompt = Prompt(f"param {line.name}", begun, note, check=_number_problem, begun=True)
        answer = await self._screen.app.ask(prompt)
        if answer:
            self.change_number(place, lambda number: replacing(number.literal.span, answer.strip()))

    async def type_parameter(self, place: int) -> None:
        """Ask for the whole default of a parameter."""
        self.read_text()
        lines = self._screen.query_one(ParameterSteppers).lines
        if place >= len(lines):  # of a text that has changed since
            return
        line = lines[place]
        answer = await self._screen.app.ask(Prompt(f"param {line.name}", line.text, "its default"))
        if answer and answer != line.text:
            self._apply(written(line, answer))

    def _go_to_rule(self, matrix: RegionMatrix, row: int, column: int) -> None:
        rules = matrix.at(row, column)
        if rules:
            self._screen.show_line(rules[-1].rule.span.line)


def _number_problem(text: str) -> str | None:
    return None if re.fullmatch(r"\s*-?\d[\d_]*\s*", text) else "a whole number; enter on the list types the rest too"


def _region_problem(matrix: RegionMatrix, text: str) -> str | None:
    name, colon, size = text.partition(":")
    if not colon or not size.strip():
        return f"and its size, for instance  {name.strip() or 'answer'} : 16"
    return renaming.name_problem(matrix.file, name.strip())
