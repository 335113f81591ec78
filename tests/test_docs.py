"""The Python of the pages that people copy from runs as it stands, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TENSOR = torch.zeros(1, 1, 8192, 16)


@pytest.mark.parametrize(
    ("page", "given"), [("README.md", {"q": TENSOR, "k": TENSOR, "v": TENSOR}), ("docs/models.md", {})]
)
def test_the_code_runs(page: str, given: dict[str, object]) -> None:
    text = (ROOT / page).read_text()
    blocks = list(BLOCK.finditer(text))
    assert blocks
    names = {"__name__": "page", **given}
    for block in blocks:
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], page, "exec", dont_inherit=True), names)
