"""A file with an error of form still tells about wrong names elsewhere."""

import pytest

from compilemask.errors import MaskFileError
from compilemask.pipeline import compile_text


def codes(text: str) -> list[tuple[str, int]]:
    with pytest.raises(MaskFileError) as caught:
        compile_text(text)

    return [(d.code, d.span.line) for d in caught.value.diagnostics if d.span is not None]


def test_form_and_names_are_told_together() -> None:
    rules = ["token sees tokne : all", "token see token : all", "token sees token : cuasal"]
    text = "layout\n    token : 8\nrules\n" + "".join(f"    {rule}\n" for rule in rules)

    assert codes(text) == [("unknown-region", 4), ("syntax", 5), ("unknown-name", 6)]


def test_a_name_of_a_line_that_could_not_be_read_is_not_called_unknown() -> None:
    text = "layout\n    token : 8\n    other : :\nlet near = = 3\nrules\n    other sees token : causal by near\n"

    assert codes(text) == [("syntax", 3), ("syntax", 4)]


def test_what_follows_from_a_lost_block_is_not_told() -> None:
    assert codes("layuot\n    token : 8\nrules\n    token sees token : all\n") == [("syntax", 1)]


@pytest.mark.parametrize(
    "deep", ["not " * 5000 + "all", "all" + " and all" * 5000, "all" + " except self" * 3000 + " and all"]
)
def test_a_line_that_is_too_deep_is_left_out(deep: str) -> None:
    text = f"layout\n    token : 8\nrules\n    token sees token : {deep}\n    token sees tokne : all\n"

    assert codes(text) == [("too-deep", 4), ("unknown-region", 5)]
