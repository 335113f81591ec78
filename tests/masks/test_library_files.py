"""What the library's files and `compilemask.library` promise: headers, names, errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilemask import library
from compilemask.errors import UsageError
from compilemask.language.parser import parse
from compilemask.language.printer import format_file
from compilemask.source import Source
from docs import make_masks_page


@pytest.mark.parametrize("name", library.names())
def test_every_file_has_a_whole_header(name: str) -> None:
    header = library.header(name)
    assert header.title
    assert header.idea.endswith(".")
    assert header.source
    assert header.sizes
    assert header.density.endswith(" %")
    assert 0 < float(header.density.removesuffix(" %")) <= 100


def test_locate_finds_library_masks_and_paths(tmp_path: Path) -> None:
    assert library.locate("causal").name == "causal.mask"
    own = tmp_path / "own.mask"
    own.write_text('title "own"\n', encoding="utf-8")
    assert library.locate(str(own)) == own
    assert library.locate(own) == own


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean causal"):
        library.locate("casual")
    with pytest.raises(UsageError, match="compilemask list"):
        library.locate("zzzzzz")
    with pytest.raises(UsageError, match=r"there is no file .*nowhere/x\.mask: the folder .* does not exist"):
        library.locate("nowhere/x.mask")
    with pytest.raises(UsageError, match="is a folder"):
        library.locate(tmp_path)


def test_the_page_of_the_library_is_up_to_date() -> None:
    page = make_masks_page.PAGE.read_text(encoding="utf-8")
    assert page == make_masks_page.page(), "run: python docs/make_masks_page.py"


@pytest.mark.parametrize("name", library.names())
def test_files_are_in_canonical_form(name: str) -> None:
    path = library.locate(name)
    text = path.read_text(encoding="utf-8")
    assert format_file(parse(Source(str(path), text))) == text, f"run: compilemask fmt masks/{name}.mask"
