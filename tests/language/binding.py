"""Short ways to bind a text and to look at its mask, for the tests of binding and meaning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.language import bind, meaning, parse
from compilemask.language.program import Program
from compilemask.source import Source


def bound(text: str, **params: object) -> Program:
    """The program of a text."""
    return bind(parse(Source("t.mask", text)), params)


def bound_in(folder: Path, text: str) -> Program:
    """The program of a text that lies in a folder."""
    return bind(parse(Source("t.mask", text)), folder=folder)


def batch_of(text: str, samples: list[dict[str, object]], **params: object) -> Program:
    """The program of a text with values per sample."""
    return bind(parse(Source("t.mask", text)), params, samples)


def cells(text: str, batch: int = 0, head: int = 0, **params: object) -> str:
    """The mask as rows of `#` and `.`, rows separated by spaces."""
    return picture(dense(bound(text, **params), batch, head))


def dense(program: Program, batch: int = 0, head: int = 0) -> NDArray[np.bool_]:
    """The mask of one sample and head, cell by cell."""
    return meaning.dense(program, batch, head)


def picture(mask: NDArray[np.bool_]) -> str:
    """A mask as rows of `#` and `.`, rows separated by spaces."""
    return " ".join("".join("#" if seen else "." for seen in row) for row in mask.tolist())


def warned(text: str, **params: object) -> list[str]:
    """The codes of the warnings about a text."""
    return [diagnostic.code for diagnostic in bound(text, **params).diagnostics]


def refused(text: str, **params: object) -> list[str]:
    """The codes of the errors in a text; empty if it binds."""
    try:
        bound(text, **params)
    except MaskFileError as error:
        return [diagnostic.code for diagnostic in error.diagnostics if diagnostic.severity.value == "error"]
    return []


def told(text: str, **params: object) -> str:
    """Everything that is said about a text that cannot be bound."""
    try:
        bound(text, **params)
    except MaskFileError as error:
        return str(error)
    raise AssertionError("the text binds")


def one(rule: str, size: str = "4", before: str = "") -> str:
    """A mask with one region `token` and one rule behind its `:`."""
    return f"{before}layout\n    token : {size}\nrules\n    token sees token : {rule}\n"
