"""Values from Python: whatever is given, a clear error or a mask."""

import numpy as np
import pytest

from compilemask.errors import MaskFileError
from compilemask.pipeline import compile_text

TEXT = "param n = 3\nlayout\n    token : n\nrules\n    token sees token : causal\n"

endless: list[object] = [1]
endless.append(endless)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.5, "integers only"),
        (10**30, "64 bits"),
        ([-(10**5000)] * 99, "the number of some 5,001 digits, which does not fit 64 bits"),
        (-1, "negative"),
        ({"a": 1}, "type dict"),
        (endless, "nested more than"),
        (np.array([1.5]), "convert them to integers"),
        (np.ma.array([1, 2], mask=[False, True]), "masked"),
        (np.uint64(2**63), "64 bits"),
        ("a", "string"),
    ],
)
def test_what_is_no_size_is_refused_in_words(value: object, message: str) -> None:
    with pytest.raises(MaskFileError, match=message):
        compile_text(TEXT, params={"n": value})


def test_a_number_that_python_does_not_write_is_refused_in_words() -> None:
    with pytest.raises(MaskFileError, match="the number of some 5,001 digits, which does not fit 64 bits"):
        compile_text(TEXT, params={"n": 10**5000})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[[[1] * 4000] * 4000] * 4000] * 4000, "more than 16777216 entries, those of lists in it included"),
        ([[1]] * (1 << 20), "more than 1,048,576 lists"),
        (range(1 << 40), "a list of 1099511627776 entries"),
    ],
)
def test_lists_that_stand_for_large_ones_are_refused_early(value: object, message: str) -> None:
    with pytest.raises(MaskFileError, match=message):
        compile_text(TEXT, params={"n": value})


@pytest.mark.parametrize(
    "value", [4, np.int8(4), np.array(4), [2, 2], (2, 2), range(1, 4, 2), np.array([2, 2], np.uint8)]
)
def test_what_is_a_size_is_taken(value: object) -> None:
    assert compile_text(TEXT, params={"n": value}).query_length == 4


@pytest.mark.parametrize("sample", [1, None, "n", [("n", 3)]])
def test_samples_give_values_by_name(sample: object) -> None:
    with pytest.raises(MaskFileError, match="what is given in sample 0 is a value of type"):
        compile_text(TEXT, samples=[sample])  # type: ignore[list-item]
