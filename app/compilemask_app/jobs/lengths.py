"""How long a mask is, and whether that can be changed: what a list of masks to compare with says. Run in a thread."""

from __future__ import annotations

from dataclasses import dataclass

from compilemask.errors import CompileMaskError
from compilemask.language.binder import bind
from compilemask.language.parser import parse
from compilemask.source import Source
from compilemask_app.composing.sizes import in_words, set_by, sizes_in
from compilemask_app.document import document_of
from compilemask_app.jobs.compile_job import CompileRequest


@dataclass(frozen=True, slots=True)
class Fit:
    """A mask's lengths (queries, keys) as it stands, None if it does not compile; `sized` if it has sizes to set, else
    `fixed` says which line of the text sets them."""

    lengths: tuple[int, int] | None
    sized: bool
    wrong: str = ""
    fixed: str = ""

    def same(self, lengths: tuple[int, int]) -> bool:
        """Whether it has these lengths as it is."""
        return self.lengths == lengths

    def can_be(self, lengths: tuple[int, int]) -> bool:
        """Whether it has these lengths, or sizes by which it may come to have them."""
        return self.same(lengths) or (self.lengths is not None and self.sized)

    def in_words(self) -> str:
        """The lengths, and what can be done about them."""
        if self.lengths is None:
            return f"does not compile: {self.wrong}"
        asked = "its sizes are asked for" if self.sized else f"and no sizes to set: {self.fixed}"
        return f"{in_words(*self.lengths)}, {asked}"


def fit_of(entry: str) -> Fit:
    """The lengths of a library mask or a file."""
    try:
        document = document_of(entry)
        program = bind(parse(Source(document.name, document.text)), folder=document.folder)
    except CompileMaskError as error:
        return Fit(None, False, str(error).split("\n")[0])
    lengths, sized = (program.query_length, program.key_length), bool(sizes_in(document.text))
    return Fit(lengths, sized, fixed="" if sized else set_by(document.text))


def lengths_of(request: CompileRequest) -> tuple[int, int] | None:
    """The lengths of a text, None if it does not compile."""
    try:
        program = bind(parse(Source(request.name, request.text)), dict(request.parameters), folder=request.folder)
    except CompileMaskError:
        return None
    return program.query_length, program.key_length
