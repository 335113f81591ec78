"""Splitting and repeating a region: asks how, and writes the way that the language takes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from compilemask.errors import MaskFileError
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.source import Diagnostic
from compilemask_app.composing import region_shapes, renaming
from compilemask_app.composing.entry import new_parameter
from compilemask_app.composing.region_matrix import RegionEntry, RegionMatrix, resize_region, size_text
from compilemask_app.composing.text_edits import TextEdit, applied
from compilemask_app.jobs.equal_texts import same_mask
from compilemask_app.screens.dialogs import Question
from compilemask_app.screens.entry_prompt import EntryPrompt

if TYPE_CHECKING:
    from compilemask_app.screens.compose_flow import ComposeFlow
    from compilemask_app.screens.design_core import DesignCore

_SPLIT = re.compile(r"\s*(\w+)\s*:\s*(.+?)\s*,\s*(\w+)\s*\Z")
GO_AHEAD = "Split all the same"

Ways = tuple[tuple[TextEdit, ...], ...]


class ShapeFlow:
    """Tries each way on the text as it stands; what compiles, and is the same mask where it must be, is written.

    While one types the answer: one that no way takes is refused there.
    """

    def __init__(
        self, screen: DesignCore, flow: ComposeFlow, matrix: RegionMatrix, region: RegionEntry, title: str
    ) -> None:
        self._screen, self._flow, self._file = screen, flow, matrix.file
        self._region, self._title = region, title
        self._text = screen.text
        self._edits: tuple[TextEdit, ...] = ()
        self._changes = False

    async def split(self) -> None:
        """Two lines that add up; asks before it changes the mask."""
        name = self._region.name
        if not region_shapes.can_split(self._region):
            self._screen.app.refuse(f"{name} is stored in another order and can't be split")
            return
        start = f"{name}_a : {region_shapes.first_size(self._file, self._region)}, {name}_b"
        note = "first name : its size, second name    the second gets the rest; rules keep both"
        # the second press splits, and would not write a parameter as well
        entry = replace(self._flow.entry(self._begun_split), offers=False)
        prompt = EntryPrompt(f"Split {self._title}", start, note, entry, self._names_problem, self._split_problem)
        if await self._screen.app.ask(prompt) is None:
            return
        if self._changes:
            text = "A rule computes with the place inside this region, so splitting it changes the mask."
            if await self._screen.app.ask(Question("Split?", text, ("Leave it", GO_AHEAD))) != GO_AHEAD:
                return
        self._flow.write(*self._edits)

    async def repeat(self) -> None:
        """One instance after another."""
        whole = size_text(self._region)
        entry = self._flow.entry(lambda typed: (resize_region(self._region, f"{whole} * {typed}"),))
        note = "how many times: a number or a parameter"
        prompt = EntryPrompt(f"Repeat {self._title}", "2", note, entry, problem=self._repeat_problem)
        answer = await self._screen.app.ask(prompt)
        if answer is None:
            return
        name = entry.missing(answer)
        if name is not None:
            added = new_parameter(self._text, name)
            ways = region_shapes.repeat_region(self._region, answer.strip())
            self._tried(tuple((*way, added) for way in ways), None)
        self._flow.write(*self._edits)

    def _begun_split(self, typed: str) -> tuple[TextEdit, ...]:
        """For completion, the size of the first part as that of the region; none behind the comma that ends it."""
        size = typed.partition(":")[2]
        return (resize_region(self._region, size),) if size and not re.search(r",\s*\w*\Z", size) else ()

    def _names_problem(self, text: str) -> str | None:
        found = _SPLIT.match(text)
        if found is None:
            return "expected  first : size, second"
        first, second = found[1], found[3]
        if first == second:
            return "the two need names of their own"
        leaf = self._region.leaf
        return renaming.name_problem(self._file, first, leaf) or renaming.name_problem(self._file, second, leaf)

    def _split_problem(self, text: str) -> str | None:
        """In a thread."""
        found = _SPLIT.match(text)
        assert found is not None  # else its names are a problem
        before = self._compiled(self._text)
        if isinstance(before, Diagnostic):
            return before.message
        return self._tried(region_shapes.split_region(self._file, self._region, found[1], found[2], found[3]), before)

    def _repeat_problem(self, text: str) -> str | None:
        """In a thread."""
        count = text.strip()
        if not count:
            return "how many times: a number or a parameter"
        return self._tried(region_shapes.repeat_region(self._region, count), None)

    def _tried(self, ways: Ways, before: CompiledMask | None) -> str | None:
        """Keep the first way that compiles, the same mask as `before` first of all; words where none does."""
        tried = [(edits, self._compiled(applied(self._text, list(edits)))) for edits in ways]
        good = [(edits, mask) for edits, mask in tried if isinstance(mask, CompiledMask)]
        if not good:
            return _plainest([found for _, found in tried if isinstance(found, Diagnostic)])
        alike = [edits for edits, mask in good if before is None or same_mask(before, mask)]
        self._changes = not alike
        self._edits = alike[0] if alike else good[0][0]
        return None

    def _compiled(self, text: str) -> CompiledMask | Diagnostic:
        """The mask of a text, or the first thing that is wrong with it."""
        document = self._screen.files.document
        try:
            return compile_text(text, name=document.name, params=dict(document.parameters), folder=document.folder)
        except MaskFileError as error:
            return error.diagnostics[0]


def _plainest(findings: list[Diagnostic]) -> str:
    """What is wrong with what was typed, rather than with one of the ways to write it."""
    return next((one for one in findings if one.code == "negative-size"), findings[0]).message
