"""Writes imported masks as texts of the language."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from compilemask.errors import UsageError
from compilemask.files import write_in_one_step
from compilemask.imports.arrays import Array, Form, Masks, documents_of, masks_of
from compilemask.intervals import Intervals

MOST_LITERALS = 20_000
"""Numbers written into the text itself; more go into a data file beside it."""
MOST_SUMS = 60
"""The same for lists joined by `+`: the language takes 120 operations one within another."""
MOST_RUNS = 4_000_000
LINE = 118

Value: TypeAlias = "int | list[Value]"


@dataclass(frozen=True, slots=True)
class Imported:
    """A mask file: its text, and the name and content of the `.json` file that it names, if it does."""

    text: str
    data_name: str | None = None
    data: str | None = None


def imported(array: Array, form: Form, name: str, *, causal: bool = False, length: int | None = None) -> Imported:
    """The mask text of an array. `name` becomes the title and begins the name of the data file.

    `causal` and `length` as in `masks_of`; documents are causal or see all of themselves.

    Raises:
        UsageError: the array is not of the form, or the mask has too many runs.
    """
    if form is Form.CU_SEQLENS:
        return _documents(documents_of(array), name, "causal" if causal else "all")
    return _intervals(masks_of(array, form, causal=causal, length=length), name)


def write(mask: Imported, path: Path, *, text: bool = True) -> list[Path]:
    """Write the mask file (unless not `text`) and its data file. Returns what was written.

    Raises:
        UsageError: the folder is missing or can't be written to.
    """
    contents = {path: mask.text} if text else {}
    if mask.data_name is not None and mask.data is not None:
        contents[path.parent / mask.data_name] = mask.data
    for place, content in contents.items():
        try:
            write_in_one_step(place, content)
        except OSError as error:
            raise UsageError(f"not written: {place}: {error.strerror or error}") from None
    return list(contents)


def _documents(lengths: list[int], name: str, how: str) -> Imported:
    data_name, data, value = _placed(_runs_of(list(lengths)), list(lengths), name)
    text = (
        f'title "{_title(name)}"\n\nparam documents {value}\n\nlayout\n    document : documents\n\n'
        f"rules\n    document sees document : {how} within document\n"
    )
    return Imported(text, data_name, data)


def _intervals(masks: Masks, name: str) -> Imported:
    first = masks[0][0]
    runs = sum(one.runs for sample in masks for one in sample)
    if runs > MOST_RUNS:
        raise UsageError(f"the array shows {runs:,} runs of keys; at most {MOST_RUNS:,} can be imported")
    batch, heads = len(masks), len(masks[0])
    lists: list[list[list[Value]]] = [[_row_lists(one) for one in sample] for sample in masks]
    per_sample = [
        _list_text([_runs_of(rows) for rows in sample]) if heads > 1 else _runs_of(sample[0]) for sample in lists
    ]
    values: list[Value] = [[list(rows) for rows in sample] if heads > 1 else list(sample[0]) for sample in lists]
    written = _list_text(per_sample) if batch > 1 else per_sample[0]
    data_name, data, value = _placed(written, values if batch > 1 else values[0], name)
    rows = "rows[head]" if heads > 1 else "rows"
    lines = [f'title "{_title(name)}"', "", f"param rows{' per batch' if batch > 1 else ''} {value}", ""]
    if heads > 1:
        lines += [f"heads {heads}", ""]
    if first.rows == first.columns:
        lines += ["layout", f"    token : {first.rows}", "", "rules", f"    token sees token : intervals({rows})"]
    else:
        lines += ["queries", f"    query : {first.rows}", "keys", f"    key : {first.columns}", ""]
        lines += ["rules", f"    query sees key : intervals({rows})"]
    return Imported("\n".join(lines) + "\n", data_name, data)


def _row_lists(mask: Intervals) -> list[Value]:
    """Per query, its list of [start, end)."""
    pairs: list[Value] = [[start, end] for start, end in zip(mask.starts.tolist(), mask.ends.tolist(), strict=True)]
    borders = mask.offsets.tolist()
    return [pairs[begin:end] for begin, end in pairwise(borders)]


def _runs_of(values: Sequence[Value]) -> str:
    """A list as the language writes it, with `[value] * count` where values repeat."""
    stretches: list[tuple[Value, int]] = []
    for value in values:
        if stretches and stretches[-1][0] == value:
            stretches[-1] = (value, stretches[-1][1] + 1)
        else:
            stretches.append((value, 1))
    parts: list[str] = []
    single: list[str] = []
    for value, count in stretches:
        if count == 1:
            single.append(str(value))
            continue
        if single:
            parts.append(_list_text(single))
            single = []
        parts.append(f"[{value}] * {count}")
    if single or not parts:
        parts.append(_list_text(single))
    return " + ".join(parts)


def _list_text(items: Sequence[str]) -> str:
    return f"[{', '.join(items)}]"


def _placed(written: str, value: Value, name: str) -> tuple[str | None, str | None, str]:
    """(name and content of the data file, or None; what follows the parameter's name)."""
    if len(re.findall(r"\d+", written)) > MOST_LITERALS or written.count(" + ") > MOST_SUMS:
        file = f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}.rows.json"
        return file, json.dumps(value, separators=(",", ":")), f'from "{file}"'
    return None, None, f"= {_folded(written)}"


def _folded(text: str) -> str:
    """Broken after commas and before `+`, inside of brackets, so that lines stay readable."""
    if len(text) < LINE - 20:
        return text
    lines, line = [], ""
    for piece in re.split(r"(?<=, )(?=\[)|(?<= )(?=\+ )|(?<=, )(?=\d)", text):
        if line and len(line) + len(piece) > LINE - 4:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return "(" + "\n    ".join([*lines, line]) + ")"


def _title(name: str) -> str:
    """What a mask file can hold of a name."""
    return "".join(letter if letter.isprintable() and letter != '"' else "_" for letter in name)
