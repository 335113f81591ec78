"""What the library's files and `compilemask.library` promise: headers, names, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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


def test_a_name_that_resembles_nothing_is_answered_without_a_guess() -> None:
    with pytest.raises(UsageError) as caught:
        library.locate("nothere")
    assert "did you mean" not in str(caught.value)


def test_a_missing_file_is_told_with_the_folder_that_was_looked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.mask").write_text('title "mine"\n', encoding="utf-8")
    for given, told in {
        "nothere.mask": f"there is no file nothere.mask in {tmp_path}",
        "min.mask": f"there is no file min.mask in {tmp_path}; did you mean mine.mask?",
        "causal.mask": f"there is no file causal.mask in {tmp_path}; the library has causal, named without .mask",
        "./causal.mask": f"there is no file ./causal.mask in {tmp_path}; the library has causal, named without .mask",
        "sub/a.mask": f"there is no file sub/a.mask: the folder sub does not exist in {tmp_path}",
        f"{tmp_path}/min.mask": f"there is no file {tmp_path}/min.mask; did you mean {tmp_path}/mine.mask?",
    }.items():
        with pytest.raises(UsageError) as caught:
            library.locate(given)
        assert str(caught.value) == told


def test_an_array_is_told_how_to_become_a_mask_file(tmp_path: Path) -> None:
    array = tmp_path / "two words.npy"
    np.save(array, np.tri(3, dtype=bool))
    for given in (str(array), array):
        with pytest.raises(UsageError) as caught:
            library.locate(given)
        assert str(caught.value) == (
            f"{array} is an array, expected a .mask file: `compilemask import '{array}' -o 'two words.mask'` makes one"
        )


def test_the_page_of_the_library_is_up_to_date() -> None:
    page = make_masks_page.PAGE.read_text(encoding="utf-8")
    assert page == make_masks_page.page(), "run: python docs/make_masks_page.py"


@pytest.mark.parametrize("name", library.names())
def test_files_are_in_canonical_form(name: str) -> None:
    path = library.locate(name)
    text = path.read_text(encoding="utf-8")
    assert format_file(parse(Source(str(path), text))) == text, f"run: compilemask fmt masks/{name}.mask"
