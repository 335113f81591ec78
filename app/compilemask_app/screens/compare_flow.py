"""From the design screen to a comparison: with what, and at which sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from compilemask.errors import MaskFileError, UsageError
from compilemask.source import Severity
from compilemask_app.composing.sizes import set_by, sizes_in, taken_over
from compilemask_app.document import document_of
from compilemask_app.jobs.comparing import Comparison, LengthsDiffer, compare, compare_orders
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.lengths import lengths_of
from compilemask_app.picture import MaskPicture, Picture
from compilemask_app.screens.compare_picker import ComparePicker, Offer
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.sizes_screen import SizesScreen
from compilemask_app.screens.waiting import under_a_box

if TYPE_CHECKING:
    from compilemask_app.screens.design_core import DesignCore

ORDERS, SAVED, IN_LIBRARY = "token orders", "text as saved", "text in the library"


class CompareFlow:
    """Asks for the other side, has its sizes set, and shows both."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen
        self._last: dict[str, CompileRequest] = {}
        """The mask that each document was compared with last, at its sizes."""

    async def begin(self) -> None:
        """Ask what to compare with, and show it."""
        screen = self._screen
        picture = screen.picture
        if picture is None:
            return
        if any(finding.severity is Severity.ERROR for finding in screen.findings):
            screen.app.refuse("the text has errors: mend them, then compare it")
            return
        document = screen.files.document
        itself = document.name if document.library else str(document.path or "")
        lengths = picture.query_length, picture.key_length
        last = self._last.get(document.key)
        offers = self._offers(picture, last)
        answer = await screen.app.ask(ComparePicker(screen.app.settings.recent, itself, lengths, offers))
        if answer == ORDERS:
            found = await made(screen, "Drawing both token orders", partial(compare_orders, picture))
            if found is not None:
                screen.app.push_screen(CompareScreen(found, tiles=True))
        elif answer in (SAVED, IN_LIBRARY):
            names = "in the library" if document.library else "as saved", "as edited"
            pair = Pair(screen, picture, replace(self._as_saved(), choice=screen.choice), names, turned=True)
            await pair.ask_and_show()
        elif last is not None and answer == again(last):
            await Pair(
                screen, picture, replace(last, choice=screen.choice), (document.name, last.name),
                sized=True, remember=partial(self._remember, document.key),
            ).show()  # fmt: skip
        elif answer:
            await self._with_another(picture, answer)

    def _offers(self, picture: Picture, last: CompileRequest | None) -> tuple[Offer, ...]:
        """What stands before the masks in the list: the last mask, the token orders, the text as it is on the disk."""
        screen = self._screen
        document = screen.files.document
        offers = []
        if last is not None:
            offers.append(Offer(again(last), f"{last.name} at the sizes that it had last: {_sizes(last)}", last))
        if picture.reordered:
            now = CompileRequest(
                0, document.name, screen.text, document.folder, document.parameters, screen.choice
            )  # fmt: skip
            offers.append(Offer(ORDERS, "this mask as written, and as the kernel stores its tokens", now))
        if screen.files.unsaved and document.stamp is not None:  # a text that was never saved has no other yet
            words = "the text before the changes that are not saved"
            offers.append(Offer(IN_LIBRARY if document.library else SAVED, words, self._as_saved()))
        return tuple(offers)

    def _as_saved(self) -> CompileRequest:
        document = self._screen.files.document
        return CompileRequest(0, document.name, document.text, document.folder, document.parameters)

    def _remember(self, key: str, other: CompileRequest) -> None:
        self._last[key] = other

    async def _with_another(self, picture: Picture, name: str) -> None:
        """A library mask or a file, with the sizes that fit this mask."""
        screen = self._screen
        document = screen.files.document
        try:
            chosen = document_of(name)
        except UsageError as error:
            tell(screen, error)
            return
        other = CompileRequest(0, chosen.name, chosen.text, chosen.folder, choice=screen.choice)
        remember = partial(self._remember, document.key)
        await Pair(screen, picture, other, (document.name, chosen.name), remember=remember).ask_and_show()


def again(last: CompileRequest) -> str:
    """`again: block_diffusion, length 2048, size 8`."""
    return ", ".join(filter(None, (f"again: {last.name}", _sizes(last))))


def _sizes(request: CompileRequest) -> str:
    return ", ".join(f"{line.name} {line.text}" for line in sizes_in(request.text))


class Pair:
    """This mask and another, whose sizes can be changed; the other one stands first where the names are `turned`."""

    def __init__(
        self,
        screen: DesignCore,
        picture: Picture,
        other: CompileRequest,
        names: tuple[str, str],
        *,
        turned: bool = False,
        sized: bool = False,
        remember: Callable[[CompileRequest], None] | None = None,
    ) -> None:
        self._screen, self._picture, self._other = screen, picture, other
        self._names, self._turned, self._sized, self._remember = names, turned, sized, remember

    async def ask_and_show(self) -> None:
        """Open the comparison, at sizes that are asked for where the other mask has any."""
        if not sizes_in(self._other.text) or await self.set_sizes():
            await self.show()

    async def show(self) -> None:
        """Open the comparison; masks of other lengths are given sizes first."""
        comparison = await self._compared()
        if comparison is not None:
            sizes = self.at_other_sizes if sizes_in(self._other.text) else None
            self._screen.app.push_screen(CompareScreen(comparison, sizes=sizes))

    async def at_other_sizes(self) -> Comparison | None:
        """Ask for sizes and compare again."""
        return await self._compared() if await self.set_sizes() else None

    async def set_sizes(self) -> bool:
        """Ask for the sizes of the other mask, which begin with those of this one; False if nothing was chosen."""
        lengths = self._picture.query_length, self._picture.key_length
        values = {line.name: line.text for line in sizes_in(self._other.text)}
        if not self._sized and not (self._turned and self._same_lengths()):
            values = taken_over(self._screen.text, self._other.text, lengths)
        text = await self._screen.app.ask(SizesScreen(self._other, lengths, values))
        if text is not None:
            self._other, self._sized = replace(self._other, text=text), True
        return text is not None

    def _same_lengths(self) -> bool:
        """Whether the other text has the lengths of this one as it stands, whose own sizes then say what changed."""
        return lengths_of(self._other) == (self._picture.query_length, self._picture.key_length)

    async def _compared(self) -> Comparison | None:
        words = f"Compiling {'the text as saved' if self._turned else self._other.name}"
        try:
            found = await made(self._screen, words, self._compare)
        except LengthsDiffer as error:
            if not sizes_in(self._other.text):
                tell(self._screen, UsageError(f"{error}; {self._names[not self._turned]}: {set_by(self._other.text)}"))
                return None
        else:
            if found is not None and self._remember is not None:
                self._remember(self._other)
            return found
        return await self.at_other_sizes()

    def _compare(self) -> Comparison:
        """In a thread."""
        outcome = self._screen.app.services.compile(self._other)
        if not isinstance(outcome, MaskPicture):
            raise UsageError(f"{self._other.name} does not compile")
        mine, other = self._picture, outcome.whole()
        left, right = (other, mine) if self._turned else (mine, other)
        return compare(left, right, *self._names)


async def made(screen: DesignCore, words: str, make: Callable[[], Comparison]) -> Comparison | None:
    """What `make` returns, None if it went wrong, which is told, or the user closed the box. Raises LengthsDiffer."""
    try:
        return await under_a_box(screen.app, "Compare", f"{words} ...", make)
    except LengthsDiffer:
        raise
    except (MaskFileError, UsageError) as error:
        tell(screen, error)
        return None


def tell(screen: DesignCore, error: Exception) -> None:
    """What went wrong."""
    screen.notify(str(error), severity="error", timeout=8, markup=False)
