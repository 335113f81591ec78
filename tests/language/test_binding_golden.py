"""One file per group of messages: the mask in NAME.mask, what people are told when it is bound in NAME.txt.

A first line `# bind {"params": {...}, "samples": [...]}` gives values.
`UPDATE_GOLDEN=1 python -m pytest tests/language/test_binding_golden.py` writes the texts anew; read the diff.
"""

import json
import os
from pathlib import Path

import pytest

from compilemask.errors import MaskFileError
from compilemask.language.binder import bind
from compilemask.language.parser import parse
from compilemask.source import Diagnostic, Source

FOLDER = Path(__file__).parents[1] / "golden" / "binding"
MASKS = sorted(FOLDER.glob("*.mask"))


def said(path: Path) -> str:
    """Everything that is said about a mask, as text."""
    text = path.read_text()
    first = text.splitlines()[0]
    given = json.loads(first.removeprefix("# bind ")) if first.startswith("# bind ") else {}
    diagnostics: tuple[Diagnostic, ...]
    try:
        diagnostics = bind(parse(Source(path.name, text)), folder=FOLDER, **given).diagnostics
    except MaskFileError as error:
        diagnostics = error.diagnostics
    return "\n\n".join(d.render() for d in diagnostics) + "\n"


@pytest.mark.parametrize("path", MASKS, ids=lambda p: p.stem)
def test_what_is_said(path: Path) -> None:
    golden = path.with_suffix(".txt")
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(said(path))

    assert said(path) == golden.read_text()
