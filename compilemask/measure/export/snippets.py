"""The lines of Python that use a mask in a model, at the sizes that it has now."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compilemask.language.parameter_table import parameter_table
from compilemask.language.values import plain
from compilemask.measure.export.python_text import is_keyword_argument, literal
from compilemask.pipeline import CompiledMask
from compilemask.pipeline import compile as compile_mask

LONGEST = 120
"""Characters of a value; a longer one is left to the mask's file."""

_PYTHON = """\
import compilemask as cm

mask = cm.compile({arguments})
# q: [{batch}, {heads}, {queries}, head_dim]   k, v: [{batch}, {heads}, {keys}, head_dim]
out = cm.attention(q, k, v, mask)  # enable_gqa=True where k and v have fewer heads
"""


def python_snippet(compiled: CompiledMask, mask: str, parameters: Mapping[str, Any], folder: Path | None = None) -> str:
    """A Python program that compiles `mask` (a path or a library name) at its present sizes and calls attention.

    `parameters` are the values that it was compiled with, `folder` is where its file looks for others. Parameters whose
    names are words of Python, or arguments of `compile` itself, go into its `params`.
    """
    own = frozenset(inspect.signature(compile_mask).parameters)
    values = {**sizes_in_use(compiled, parameters, folder), **parameters}
    named = {name: value for name, value in values.items() if is_keyword_argument(name, own)}
    rest = {name: value for name, value in values.items() if name not in named}
    arguments = [literal(mask)]
    if rest:
        arguments.append(f"params={{{', '.join(f'{literal(name)}: {literal(rest[name])}' for name in rest)}}}")
    arguments += [f"{name}={literal(value)}" for name, value in named.items()]
    return _PYTHON.format(
        arguments=", ".join(arguments),
        batch=compiled.batch if compiled.batch > 1 else "batch",
        heads=compiled.heads if compiled.heads > 1 else "heads",
        queries=compiled.query_length,
        keys=compiled.key_length,
    )


def sizes_in_use(compiled: CompiledMask, parameters: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The present values of the parameters that can be set to other sizes, as Python has them.

    Left out is what follows from other parameters, differs between samples or heads, is read from a file, stands in an
    include that is gone, or is long.
    """
    found = {}
    for shown in parameter_table(compiled.program.source, folder, parameters, compiled.batch):
        if shown.default is None or shown.per is not None or shown.name in parameters or _names(shown.default):
            continue
        value = plain(shown.value)
        if len(literal(value)) <= LONGEST:
            found[shown.name] = value
    return found


def _names(default: str) -> bool:
    """Whether a default speaks of other parameters."""
    words = re.findall(r"[^\W\d]\w*", re.sub(r'"[^"]*"', "", default))
    return bool(set(words) - {"true", "false", "any"})
