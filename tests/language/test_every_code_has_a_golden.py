"""Every message code that the compiler's source can give stands in a golden file, so that its words are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import compilemask

PACKAGE = Path(compilemask.__file__).parent
GOLDEN = Path(__file__).parents[1] / "golden"
CODE = re.compile(r"[a-z]+(-[a-z]+)*")
HYPHENATED = re.compile(r"[a-z]+(-[a-z]+)+")
REPORTING = {"reject": 0, "warn": 0, "report": 0, "_report": 0, "Diagnostic": 1}  # name: place of the code
PARTS = ("source.py", "language", "intervals", "tiles", "descriptor", "pipeline")


def _sources() -> list[Path]:
    return [path for part in PARTS for path in ([PACKAGE / part] if "." in part else (PACKAGE / part).rglob("*.py"))]


def _codes(tree: ast.AST) -> Iterator[str]:
    """Codes that are given to a reporting function, and every constant that looks like one (tables of codes)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            place = REPORTING.get(name)
            if place is not None and len(node.args) > place:
                constants = (part for part in ast.walk(node.args[place]) if isinstance(part, ast.Constant))
                yield from (one.value for one in constants if isinstance(one.value, str) and CODE.fullmatch(one.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and HYPHENATED.fullmatch(node.value):
            yield node.value


def codes() -> list[str]:
    return sorted({code for path in _sources() for code in _codes(ast.parse(path.read_text(encoding="utf-8")))})


def said() -> set[str]:
    """The codes of all golden files."""
    texts = [path.read_text(encoding="utf-8") for path in GOLDEN.rglob("*.txt")]
    return {code for text in texts for code in re.findall(r"\b(?:error|warning|note)\[([a-z-]+)\]", text)}


def test_the_search_finds_codes_of_every_kind() -> None:
    assert {"syntax", "rule-hidden", "unclosed-string", "too-many-parts", "evaluation", "empty-rows"} <= set(codes())


@pytest.mark.parametrize("code", codes())
def test_the_code_is_in_a_golden_file(code: str) -> None:
    assert code in said(), f"no golden file under {GOLDEN} shows {code}"
