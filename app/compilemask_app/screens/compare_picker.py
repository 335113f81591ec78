"""Which mask to compare with: those of other lengths are marked, and those that can't have the same are not taken."""

from __future__ import annotations

from rich.text import Text
from textual import work

from compilemask_app.composing.sizes import in_words
from compilemask_app.jobs.lengths import Fit, fit_of
from compilemask_app.screens.open_screen import OpenScreen

OTHER = "≠"
"""Stands before masks of other lengths."""


class ComparePicker(OpenScreen):
    """Answers a library name or a path of a mask that has `lengths`, or sizes to set."""

    def __init__(self, recent: tuple[str, ...], without: str, lengths: tuple[int, int]) -> None:
        super().__init__(recent, f"Compare this mask, {in_words(*lengths)}, with", without)
        self._lengths = lengths
        self._fits: dict[str, Fit] = {}

    def on_mount(self) -> None:
        super().on_mount()
        self._measure()

    @work(thread=True, group="lengths", exclusive=True)
    def _measure(self) -> None:
        found = {entry: fit_of(entry) for entry in self.entries}
        self.app.call_from_thread(self._mark, found)

    def _mark(self, found: dict[str, Fit]) -> None:
        """The list again, with the lengths; the same entry stays chosen."""
        self._fits = found
        if self.is_attached:
            self.fill_again()

    def label(self, entry: str) -> Text:
        name, fit = super().label(entry), self._fits.get(entry)
        if fit is None or fit.same(self._lengths):
            return name
        lengths = in_words(*fit.lengths) if fit.lengths else "does not compile"
        return Text.assemble(f"{OTHER} ", name, (f"  {lengths}", "dim"), no_wrap=True, overflow="ellipsis")

    def about(self, entry: str, *, in_library: bool) -> Text:
        words, fit = super().about(entry, in_library=in_library), self._fits.get(entry)
        if fit is None or fit.same(self._lengths):
            return words
        return Text.assemble((f"{OTHER} {fit.in_words()}\n", self.app.theme_variables.get("warning", "")), words)

    def answer(self, result: str | None) -> None:
        fit = fit_of(result) if result else None
        if fit is None or fit.can_be(self._lengths):
            super().answer(result)
        else:
            self.app.refuse(f"{result}: {fit.in_words()}; this mask has {in_words(*self._lengths)}")
