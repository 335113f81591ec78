"""The lines of Python that use a mask in a model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from compilemask.measure.export.python_text import is_keyword_argument, literal
from compilemask.pipeline import CompiledMask
from compilemask.pipeline import compile as compile_mask

_PYTHON = """\
import compilemask as cm

mask = cm.compile({arguments})
# q, k, v: [batch, heads, tokens, head_dim]; {queries:,} queries, {keys:,} keys
out = cm.attention(q, k, v, mask)
"""


def python_snippet(compiled: CompiledMask, mask: str, parameters: Mapping[str, Any]) -> str:
    """A Python program that compiles `mask` (a path or a library name) and calls attention.

    Parameters whose names are words of Python, or arguments of `compile` itself, go into its `params`.
    """
    own = frozenset(inspect.signature(compile_mask).parameters)
    named = {name: value for name, value in parameters.items() if is_keyword_argument(name, own)}
    rest = {name: value for name, value in parameters.items() if name not in named}
    arguments = [literal(mask)]
    if rest:
        arguments.append(f"params={{{', '.join(f'{literal(name)}: {literal(rest[name])}' for name in rest)}}}")
    arguments += [f"{name}={literal(value)}" for name, value in named.items()]
    return _PYTHON.format(arguments=", ".join(arguments), queries=compiled.query_length, keys=compiled.key_length)
