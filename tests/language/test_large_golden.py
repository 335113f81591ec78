"""What is said of masks and files too large to keep: each is made here, its message is in golden/large/NAME.txt.

`UPDATE_GOLDEN=1 python -m pytest tests/language/test_large_golden.py` writes the texts anew; read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compilemask.errors import MaskFileError
from compilemask.pipeline import compile_text
from tests.language.binding import one

GOLDEN = Path(__file__).parents[1] / "golden" / "large"
UNREADABLE = "locked.json"


def _data(folder: Path, name: str, size: int) -> str:
    """A mask that reads a data file of so many zero bytes."""
    with (folder / name).open("wb") as stream:
        stream.truncate(size)
    return f'param a from "{name}"\n' + one("all", "len(a)")


def _nested_includes(folder: Path) -> str:
    for depth in range(10):
        (folder / f"part{depth}.mask").write_text(f'include "part{depth + 1}.mask"\n')
    return 'include "part0.mask"\n'


def _many_includes(folder: Path) -> str:
    (folder / "part.mask").write_text("# nothing\n")
    return 'include "part.mask"\n' * 65


def _large_include(folder: Path) -> str:
    (folder / "part.mask").write_text("#" * (2**20 + 1))
    return 'include "part.mask"\n'


CASES: dict[str, Callable[[Path], str]] = {
    "too_many_characters": lambda _: "#" * (2**20) + "\n",
    "too_many_words": lambda _: "param a = [" + "1, " * 60_000 + "]\n",
    "too_many_parts": lambda _: one("causal", "200_000") + "    token sees token : q.pos - k.pos == 1\n" * 2000,
    "too_many_tiles": lambda _: (
        "queries\n    a : 50\nkeys\n    b : 200_000\nalign start\nrules\n    a sees b : same (pos % 2)\n"
    ),
    "too_much_work": lambda _: "heads 4000\n" + one(" or ".join(["window(behind=head, ahead=0)"] * 90)),
    "data_too_large_json": lambda folder: _data(folder, "large.json", 65 * 2**20),
    "data_too_large_npy": lambda folder: _data(folder, "large.npy", 65 * 2**20),
    "data_unreadable": lambda folder: _data(folder, UNREADABLE, 4),
    "include_too_large": _large_include,
    "includes_too_deep": _nested_includes,
    "includes_too_many": _many_includes,
}


def _locked(path: Path, *arguments: Any, **keywords: Any) -> Any:
    """`Path.open` where one file may not be read (a superuser may read any, so no file mode will do)."""
    if path.name == UNREADABLE and arguments == ("rb",):
        raise PermissionError(13, "Permission denied")
    return _OPEN(path, *arguments, **keywords)


_OPEN: Any = Path.open


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = CASES[name](tmp_path)
    monkeypatch.setattr(Path, "open", _locked)
    try:
        found = compile_text(text, name=f"{name}.mask", folder=tmp_path).diagnostics
    except MaskFileError as error:
        found = error.diagnostics
    said = "\n\n".join(one.render() for one in found) + "\n"

    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(said)
    assert said == golden.read_text()
