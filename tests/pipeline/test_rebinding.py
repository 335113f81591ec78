"""Other sizes of a mask are bound again; its text and what it includes are not parsed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilemask import compile as compile_mask
from compilemask import compile_text
from compilemask.errors import MaskFileError
from compilemask.language import parser
from compilemask.language.builder import Mask, causal
from compilemask.source import Source

WINDOW = """
param length = 8, behind = 2
layout
    token : length
rules
    token sees token : window(behind=behind, ahead=0)
"""


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the texts that are parsed from here on."""
    seen: list[str] = []
    parse = parser.parse_tolerant

    def noted(source: Source) -> parser.Parsed:
        seen.append(source.name)
        return parse(source)

    monkeypatch.setattr(parser, "parse_tolerant", noted)
    parser.parse_once.cache_clear()
    return seen


def test_a_text_is_parsed_for_its_first_sizes_only(parsed: list[str]) -> None:
    lengths = [compile_text(WINDOW, length=length).query_length for length in (8, 13, 64, 1000)]

    assert lengths == [8, 13, 64, 1000]
    assert compile_text(WINDOW, length=13, behind=5).rows.row(12) == ((7, 13),)
    assert len(parsed) == 1


def test_a_changed_text_is_parsed(parsed: list[str]) -> None:
    compile_text(WINDOW)
    changed = compile_text(WINDOW.replace("ahead=0", "ahead=1"))

    assert changed.rows.row(3) == ((1, 5),)
    assert len(parsed) == 2


def test_a_library_mask_and_what_it_includes_are_parsed_once(parsed: list[str]) -> None:
    for height in (21, 35, 28):
        assert compile_mask("natten_2d_dilated", height=height, width=32).query_length == height * 32
    assert sorted(Path(name).name for name in parsed) == ["natten_2d.mask", "natten_2d_dilated.mask"]


def test_an_included_file_is_parsed_again_once_it_has_changed(parsed: list[str], tmp_path: Path) -> None:
    (tmp_path / "inner.mask").write_text(WINDOW)
    (tmp_path / "outer.mask").write_text('include "inner.mask"\nparam length = 9\n')
    assert compile_mask(tmp_path / "outer.mask").rows.row(8) == ((6, 9),)
    (tmp_path / "inner.mask").write_text(WINDOW.replace("behind = 2", "behind = 4"))

    assert compile_mask(tmp_path / "outer.mask").rows.row(8) == ((4, 9),)
    assert sorted(Path(name).name for name in parsed) == ["inner.mask", "inner.mask", "outer.mask"]


def test_a_text_with_errors_is_told_about_every_time(parsed: list[str]) -> None:
    for _ in range(2):
        with pytest.raises(MaskFileError, match="did you mean `rules`"):
            compile_text(WINDOW.replace("rules", "rulse"))
    assert parsed


def test_a_mask_built_in_python_is_parsed_for_its_first_sizes_only(parsed: list[str]) -> None:
    mask = Mask()
    length = mask.param("length", 8)
    with mask.layout() as layout:
        token = layout.region("token", length)
    with mask.rules() as rules:
        rules.sees(token, token, causal)

    assert [compile_mask(mask, length=n).rows.visible for n in (4, 9, 100)] == [10, 45, 5050]
    assert len(parsed) == 1
