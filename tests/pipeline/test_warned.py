"""What Python callers are told of a mask that compiles."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import compilemask as cm

NEVER = "layout\n    a : 8\n    b : 8\nrules\n    a sees a : causal\n    a sees b : before\n"


def test_a_warning_of_a_text_is_one_of_the_line_that_compiles_it(tmp_path: Path) -> None:
    path = tmp_path / "never.mask"
    path.write_text(NEVER)
    with pytest.warns(cm.MaskWarning, match="this rule never matches") as caught:
        masks = cm.compile_text(NEVER), cm.compile(path)
    assert len(caught) == 2
    assert {warning.filename for warning in caught} == {__file__}
    assert all("never matches" in str(mask.diagnostics[0]) for mask in masks)


def test_a_clean_mask_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cm.compile("causal", length=8)


def test_an_explanation_prints_as_a_sentence() -> None:
    mask = cm.compile("causal", length=8)
    assert str(mask.explain(3, 5)).startswith("hidden: line ")
    assert str(mask.explain(5, 3)).startswith("visible: ")
