"""One file per message: the mask in NAME.mask, what people are told in NAME.txt.

`UPDATE_GOLDEN=1 python -m pytest tests/language/test_diagnostics_golden.py` writes the texts anew; read the diff.
"""

import os
from pathlib import Path

import pytest

from compilemask.errors import MaskFileError
from compilemask.pipeline import compile_text

FOLDER = Path(__file__).parents[1] / "golden" / "diagnostics"
MASKS = sorted(FOLDER.glob("*.mask"))


def told(path: Path) -> str:
    """Everything that is said about a mask, as text."""
    text = path.read_bytes().decode()
    try:
        found = compile_text(text, name=path.name).diagnostics
    except MaskFileError as error:
        found = error.diagnostics
    return "\n\n".join(d.render() for d in found) + "\n"


@pytest.mark.parametrize("path", MASKS, ids=lambda p: p.stem)
def test_what_is_said(path: Path) -> None:
    golden = path.with_suffix(".txt")
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(told(path))

    assert told(path) == golden.read_text()
