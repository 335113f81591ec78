"""Splitting and repeating a region: asks how, and writes the way that the language takes."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import numpy as np

from compilemask.errors import MaskFileError
from compilemask.pipeline import CompiledMask, compile_text
from compilemask_app.composing import region_shapes, renaming
from compilemask_app.composing.region_matrix import RegionEntry, RegionMatrix
from compilemask_app.composing.text_edits import TextEdit, applied
from compilemask_app.screens.dialogs import Prompt, Question
from compilemask_app.widgets.mask_editor import MaskEditor

if TYPE_CHECKING:
    from compilemask_app.screens.design_core import DesignCore

_SPLIT = re.compile(r"\s*(\w+)\s*:\s*(.+?)\s*,\s*(\w+)\s*\Z")
GO_AHEAD = "Split all the same"


class ShapeFlow:
    """Tries each way on the text as it stands; what compiles, and is the same mask where it must be, is written."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen

    async def split(self, matrix: RegionMatrix, region: RegionEntry) -> None:
        """Two lines that add up; asks before it changes the mask."""
        if not region_shapes.can_split(region):
            self._screen.notify(f"{region.name} is stored in another order and can't be split", severity="warning")
            return
        name = region.name
        start = f"{name}_a : {region_shapes.first_size(matrix.file, region)}, {name}_b"
        note = "first name : its size, second name    the second gets the rest; rules keep both"
        prompt = Prompt(f"Split {name}", start, note, check=lambda text: _problem(matrix, text))
        answer = await self._screen.app.ask(prompt)
        found = _SPLIT.match(answer or "")
        if found is None:
            return
        before = await asyncio.to_thread(self._compiled, self._screen.text)
        ways = region_shapes.split_region(matrix.file, region, found[1], found[2], found[3])
        edits, after = await self._first(ways, before)
        if after is not None and not _same(before, after):
            text = "A rule computes with the place inside this region, so splitting it changes the mask."
            sure = await self._screen.app.ask(Question("Split?", text, ("Leave it", GO_AHEAD)))
            edits = edits if sure == GO_AHEAD else ()
        self._write(edits)

    async def repeat(self, region: RegionEntry) -> None:
        """One instance after another."""
        prompt = Prompt(f"Repeat {region.name}", "2", "how many times: a number or a parameter")
        answer = await self._screen.app.ask(prompt)
        if answer and answer.strip():
            edits, _ = await self._first(region_shapes.repeat_region(region, answer.strip()), None)
            self._write(edits)

    async def _first(
        self, ways: tuple[tuple[TextEdit, ...], ...], before: CompiledMask | str | None
    ) -> tuple[tuple[TextEdit, ...], CompiledMask | None]:
        """The first way that compiles, the same mask before others; a notice where none does."""
        text = self._screen.text
        tried = [(edits, await asyncio.to_thread(self._compiled, applied(text, list(edits)))) for edits in ways]
        good = [(edits, mask) for edits, mask in tried if isinstance(mask, CompiledMask)]
        good.sort(key=lambda pair: not _same(before, pair[1]))
        if good:
            return good[0]
        reasons = [mask for _, mask in tried if isinstance(mask, str)]
        self._screen.notify(before if isinstance(before, str) else reasons[0], severity="warning", timeout=8)
        return (), None

    def _compiled(self, text: str) -> CompiledMask | str:
        """The mask of a text, or the first thing that is wrong with it."""
        document = self._screen.files.document
        try:
            return compile_text(text, name=document.name, params=dict(document.parameters), folder=document.folder)
        except MaskFileError as error:
            return error.diagnostics[0].message

    def _write(self, edits: tuple[TextEdit, ...]) -> None:
        if edits:
            self._screen.query_one(MaskEditor).make(list(edits))


def _same(before: CompiledMask | str | None, after: CompiledMask) -> bool:
    """Whether two masks show the same cells, in every sample and head."""
    if not isinstance(before, CompiledMask) or before.variant.shape != after.variant.shape:
        return False
    return before.variants == after.variants and np.array_equal(before.variant, after.variant)


def _problem(matrix: RegionMatrix, text: str) -> str | None:
    found = _SPLIT.match(text)
    if found is None:
        return "expected  first : size, second"
    first, second = found[1], found[3]
    if first == second:
        return "the two need names of their own"
    return renaming.name_problem(matrix.file, first) or renaming.name_problem(matrix.file, second)
