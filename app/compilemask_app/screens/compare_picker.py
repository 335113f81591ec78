"""Which mask to compare with: those of other lengths are marked, and those that can't have the same are not taken."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text
from textual import work
from textual.widgets import Static

from compilemask_app.composing.sizes import in_words
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.lengths import Fit, fit_of
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.widgets.preview import Preview

OTHER = "≠"
"""Stands before masks of other lengths."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a mask can be compared with besides other masks: an entry, what it is in words, and its picture."""

    entry: str
    about: str
    request: CompileRequest


class ComparePicker(OpenScreen):
    """Answers the entry of an offer, or a library name or a path of a mask that has `lengths` or sizes to set."""

    def __init__(
        self, recent: tuple[str, ...], without: str, lengths: tuple[int, int], offers: tuple[Offer, ...] = ()
    ) -> None:
        super().__init__(recent, f"Compare this mask, {in_words(*lengths)}, with", without)
        self._lengths = lengths
        self._offers = {offer.entry: offer for offer in offers}
        self._fits: dict[str, Fit] = {}

    def on_mount(self) -> None:
        super().on_mount()
        self._measure()

    @work(thread=True, group="lengths", exclusive=True)
    def _measure(self) -> None:
        found = {entry: fit_of(entry) for entry in super().entries}
        self.app.call_from_thread(self._mark, found)

    def _mark(self, found: dict[str, Fit]) -> None:
        """The list again, with the lengths; the same entry stays chosen."""
        self._fits = found
        if self.is_attached:
            self.fill_again()

    @property
    def entries(self) -> tuple[str, ...]:
        """The offers, then all masks."""
        return (*self._offers, *super().entries)

    def _look(self, entry: str) -> None:
        offer = self._offers.get(entry)
        if offer is None:
            super()._look(entry)
            return
        self.query_one("#about", Static).update(Text(offer.about))
        self.query_one(Preview).ask(offer.request)

    def label(self, entry: str) -> Text:
        if entry in self._offers:
            return Text(entry, style="bold", no_wrap=True, overflow="ellipsis")
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
        fit = fit_of(result) if result and result not in self._offers else None
        if fit is None or fit.can_be(self._lengths):
            super().answer(result)
        else:
            self.app.refuse(f"{result}: {fit.in_words()}; this mask has {in_words(*self._lengths)}")
