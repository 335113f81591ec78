"""Sizes for library masks: settings under which a mask has about a wanted number of keys.

Masks differ in what their length follows: a number (`length`), a product (`height`, `width`) or a list of lengths. The
settings that a header gives for 32K, and the defaults, are scaled number by number until the key axis has the wanted
length, or comes close.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from compilemask import library, pipeline
from compilemask.errors import CompileMaskError

DEFAULT = re.compile(r"(\w+)\s*=\s*(\d+)\b(?!\s*[*+/])")
LENGTHS = re.compile(r"(\w+)(?: per \w+)?\s*=\s*(\[[\d,\s]+\])(?!\s*\*)")
LONG = 64  # defaults from here on are taken for lengths, smaller ones for windows and counts
EXPLICIT: dict[str, Callable[[int], dict[str, Any]]] = {
    # sizes that depend on each other, so that no single number makes the length, by the wanted number of keys
    "any_order": lambda n: {"ranks": [(index * 1031 + 7) % n for index in range(n)]},
    "bagel": lambda n: {"splits": [[n // 8, n // 8, n // 4, n // 16], [n // 4, n // 8, n // 16]]},
    "document_batch": lambda n: {"documents": [[n // 2 + 3, n // 2 - 3], [n // 8, n - n // 4, n // 8]]},
    "gemma3_local_cut": lambda n: {"texts": [n // 8, n // 4, n // 8], "images": [n // 4, n // 8, n // 8]},
    "hstu_cached": lambda n: {"history": n - n // 4 - 8, "targets": n // 4, "contexts": 8, "new": n // 2},
    "hstu_meta_cuda": lambda n: {"history": n - n // 4 - 8, "targets": n // 4, "contexts": 8},
    "hstu_nvidia": lambda n: {"history": n - n // 4 - 8, "targets": n // 4, "contexts": 8},
    "prefix_trees_packed": lambda n: {
        "lengths": [[n // 8, n // 8, n // 8, n // 8], [n // 4, n // 8, n // 8]],
    },
    "shared_prompt_rm": lambda n: {"documents": max(1, n // 2048), "prompt": 512, "answers": [256] * 6},
    "var": lambda n: {"scales": [1, 2, 4, 8, 10, 16, 24, 32] if n < 4096 else [1, 2, 4, 8, 16, 24, 32, 46]},
}


def resized(name: str, tokens: int) -> dict[str, Any]:
    """Settings of library mask `name` whose longer axis is as near to `tokens` as scaling one or two numbers brings it.

    Raises CompileMaskError where not even the defaults compile.
    """
    best: dict[str, Any] = {}
    gap = abs(_length(name, best) - tokens)
    for settings in _candidates(name, tokens):
        if gap == 0:
            break
        try:
            found = abs(_length(name, settings) - tokens)
        except CompileMaskError:
            continue
        if found < gap:
            best, gap = settings, found
    return best


def _length(name: str, settings: dict[str, Any]) -> int:
    mask = pipeline.compile(name, params=settings)
    return max(mask.query_length, mask.key_length)


def _candidates(name: str, tokens: int) -> Iterator[dict[str, Any]]:
    """Settings worth trying, likely ones first: the 32K settings shrunk, then defaults with one number solved for."""
    large = {key: ast.literal_eval(value) for key, value in library.header(name).at_32k}
    share = tokens / 32768
    for key, value in large.items():
        if isinstance(value, int) and value > 1:
            yield {**large, key: max(1, round(value * share))}
            yield from _solved(name, large, key, value, tokens)
    for key, value in _defaults(library.locate(name)).items():
        yield from _solved(name, {}, key, value, tokens)
    yield from _stretched(name, tokens)
    if name in EXPLICIT:
        yield EXPLICIT[name](tokens)


def _solved(name: str, settings: dict[str, Any], key: str, value: int, tokens: int) -> Iterator[dict[str, Any]]:
    """The value of one number for which the length, if it grows linearly with that number, is `tokens`."""
    low, high = max(1, value // 4), max(2, value // 2)
    try:
        first, second = (_length(name, {**settings, key: number}) for number in (low, high))
    except CompileMaskError:
        return
    if second > first:
        solution = low + round((tokens - first) * (high - low) / (second - first))
        if solution > 0:
            yield {**settings, key: solution}


def _stretched(name: str, tokens: int) -> Iterator[dict[str, Any]]:
    """All lists of lengths stretched alike, then with the rounding made up for in one entry of one of them."""
    lists = {key: ast.literal_eval(text) for key, text in LENGTHS.findall(library.locate(name).read_text("utf-8"))}
    factor = tokens / _length(name, {})
    numbers = {key: round(value * factor) for key, value in _defaults(library.locate(name)).items() if value >= LONG}
    for chosen in (list(lists), *([key] for key in lists)):
        wide = {key: [round(value * factor) for value in lists[key]] for key in chosen}
        yield wide
        yield {**numbers, **wide}
        try:
            missing = tokens - _length(name, wide)
        except CompileMaskError:
            continue
        yield from ({**wide, key: [*wide[key][:-1], wide[key][-1] + missing]} for key in wide if wide[key])


def _defaults(path: Path) -> dict[str, int]:
    """The whole-number defaults in a mask's `param` lines, the largest first: lengths are larger than windows."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("param")]
    found = {key: int(value) for line in lines for key, value in DEFAULT.findall(line)}
    return dict(sorted(found.items(), key=lambda item: -item[1]))
