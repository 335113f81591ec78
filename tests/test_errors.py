"""Errors survive what Python does with them between processes."""

from __future__ import annotations

import copy
import pickle

import pytest

from compilemask.errors import MaskFileError
from compilemask.pipeline import compile_text


def test_an_error_in_a_mask_file_can_be_sent_and_copied() -> None:
    with pytest.raises(MaskFileError) as caught:
        compile_text("layout\n  token : x\n")
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value), copy.deepcopy(caught.value)):
        assert isinstance(again, MaskFileError)
        assert again.diagnostics == caught.value.diagnostics
        assert str(again) == str(caught.value)
