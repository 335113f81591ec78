"""The region matrix and the steppers of the design screen: what they ask for becomes edits of the text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from compilemask.language.parser import parse_tolerant
from compilemask.source import Source
from compilemask_app.composing import HEADS, cell_rules, renaming
from compilemask_app.composing.definitions import own_suggestions
from compilemask_app.composing.entry import Entry, new_parameter
from compilemask_app.composing.parameters import Number, parameters_of
from compilemask_app.composing.region_matrix import RegionMatrix, matrix_of
from compilemask_app.composing.relations import suggestions
from compilemask_app.composing.text_edits import TextEdit, applied, replacing, source_text
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.equal_texts import shortest
from compilemask_app.jobs.tidying import Asked, tidied
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.entry_prompt import EntryPrompt
from compilemask_app.screens.region_flow import RegionFlow
from compilemask_app.screens.relation_screen import RelationScreen
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
        self._changing = asyncio.Lock()

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

    def entry(
        self, edits_for: Callable[[str], tuple[TextEdit, ...]], value_in: Callable[[str], str] = str.strip
    ) -> Entry:
        """What is typed for a place of the text as it stands."""
        document = self._screen.files.document
        return Entry(self._screen.text, edits_for, value_in, document.folder, document.parameters)

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
            self._screen.app.refuse(f"line {view.locked} has an error of form; mend it first")
            return
        if row >= len(matrix.rows) or column >= len(matrix.columns):  # of a text that has changed since
            return
        match what:
            case "line":
                self._go_to_line(matrix, row, column)
            case "pick" if row != HEADS:
                await self._pick(matrix, row, column)
            case "hide" if row != HEADS:
                await self._set(row, column, "")
            case "hide":
                self._screen.notify("a head: in the rows below it cells are hidden; - takes the region out")
            case _:
                await RegionFlow(self._screen, self, matrix, row, column).change(what)

    async def _pick(self, matrix: RegionMatrix, row: int, column: int) -> None:
        screen = self._screen
        rules = matrix.effective(row, column)
        current = rules[-1].how if rules and rules[-1].rule.shows else ""
        title = f"{matrix.rows[row].name} sees {matrix.columns[column].name}"

        def request_for(how: str) -> CompileRequest | None:
            edit = cell_rules.set_relation(matrix, row, column, how) if how else cell_rules.hide(matrix, row, column)
            now = self._request()
            return now if edit is None else replace(now, text=applied(now.text, [edit]))

        offered = (*own_suggestions(matrix.file), *suggestions(matrix, row, column))
        entry = self.entry(lambda how: (cell_rules.set_relation(matrix, row, column, how),))
        entry = replace(entry, relation=True)
        answer = await screen.app.ask(RelationScreen(title, current, offered, request_for, entry))
        if answer is not None and answer != current:
            name = entry.missing(answer) if answer else None
            await self._set(row, column, answer, *([new_parameter(entry.text, name)] if name else []))

    async def _set(self, row: int, column: int, how: str, *with_it: TextEdit) -> None:
        """A relation for a cell, or none, in fewest lines; one change after another, each of the text as it is then."""
        async with self._changing:
            self.read_text()
            matrix = self._screen.query_one(RegionMatrixView).matrix
            if matrix is None or row >= len(matrix.rows) or column >= len(matrix.columns):
                return
            request = self._request()
            asked = Asked(matrix.rows[row].name, matrix.columns[column].name, shows=bool(how))
            hidden = cell_rules.hide(matrix, row, column)
            if how:
                ways = tuple((*way, *with_it) for way in cell_rules.ways_to_set(matrix, row, column, how))
            elif hidden is not None:
                ways = ((hidden,),)
            else:
                self._screen.notify("hidden already")
                return
            edits = await asyncio.to_thread(_fewest, request, ways, asked)
            if self._screen.text == request.text:
                self.write(*edits)

    def _request(self) -> CompileRequest:
        """The text as it stands."""
        document = self._screen.files.document
        return CompileRequest(0, document.name, self._screen.text, document.folder, document.parameters)

    async def type_number(self, place: int, begun: str) -> None:
        """Ask for another value of one number of the parameters, of which a digit is typed already."""
        self.read_text()
        steppers = self._screen.query_one(ParameterSteppers)
        if place >= len(steppers.numbers) or isinstance(steppers.numbers[place].value, bool):
            return
        number = steppers.numbers[place]
        old, line = source_text(number.literal.span), steppers.lines[number.parameter]
        note = f"in place of {old}" + (f" in {line.text}" if line.text != old else "")
        entry = self.entry(lambda typed: (replacing(number.literal.span, typed.strip()),))
        prompt = EntryPrompt(f"param {line.name}", begun, note, entry, _number_problem, begun=True)
        answer = await self._screen.app.ask(prompt)
        if answer:
            self.write(*entry.written(answer))

    async def type_parameter(self, place: int) -> None:
        """Ask for the whole default of a parameter."""
        self.read_text()
        lines = self._screen.query_one(ParameterSteppers).lines
        if place >= len(lines):  # of a text that has changed since
            return
        line = lines[place]
        if line.default is None:
            self._screen.app.refuse(f"{line.name} has {line.text} here: the text says what it takes")
            return
        span = line.default.span
        entry = self.entry(lambda typed: (replacing(span, typed.strip()),))
        answer = await self._screen.app.ask(EntryPrompt(f"param {line.name}", line.text, "its default", entry))
        if answer and answer.strip() != line.text:
            self.write(*entry.written(answer))

    async def rename_parameter(self, place: int) -> None:
        """Ask for another name of a parameter."""
        self.read_text()
        lines = self._screen.query_one(ParameterSteppers).lines
        if place >= len(lines):  # of a text that has changed since
            return
        old, file = lines[place].name, parse_tolerant(Source("text", self._screen.text)).file
        entry = self.entry(lambda new: tuple(renaming.rename_parameter(file, old, new.strip())))

        def check(typed: str) -> str | None:
            new = typed.strip()
            if new == old:
                return None
            return renaming.parameter_name_problem(file, new) or entry.problem(new)

        prompt = Prompt(f"Rename {old}", old, "where it is declared and wherever it is used", check=check)
        answer = await self._screen.app.ask(prompt)
        if answer and answer.strip() != old:
            self.write(*entry.edits_for(answer))

    def _go_to_line(self, matrix: RegionMatrix, row: int, column: int) -> None:
        """The rule of a cell, or where the region of a head is declared."""
        rules = matrix.at(row, column)
        if row == HEADS:
            self._screen.show_line(matrix.columns[column].leaf.span.line)
        elif rules:
            self._screen.show_line(rules[-1].rule.span.line)


def _fewest(request: CompileRequest, ways: tuple[tuple[TextEdit, ...], ...], asked: Asked) -> tuple[TextEdit, ...]:
    return tidied(request, shortest(request, ways) if len(ways) > 1 else ways[0], asked)


def _number_problem(text: str) -> str | None:
    return None if re.fullmatch(r"\s*-?\d[\d_]*\s*", text) else "a whole number; enter on the list types the rest too"
