"""Aggregates: all fields must be given, and a compiled kernel depends on their methods."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

pytest.importorskip("triton.experimental.gluon")


def aggregates() -> list[Any]:
    from compilemask.kernel import hopper_backward, hopper_forward, hopper_program, hopper_ring, hopper_work

    modules = (hopper_backward, hopper_forward, hopper_program, hopper_ring, hopper_work)
    found = {value for module in modules for value in vars(module).values() if inspect.isclass(value)}
    return [value for value in found if hasattr(value, "hash_attrs")]


def test_kernels_are_compiled_again_when_a_method_changes() -> None:
    from triton.runtime.jit import JITFunction

    methods = 0
    for made in aggregates():
        own = [value for value in vars(made).values() if isinstance(value, JITFunction)]
        assert all(any(value is known for known in made.hash_attrs) for value in own)
        methods += len(own)
    assert methods > 10


def test_an_aggregate_without_a_field_is_refused() -> None:
    from compilemask.kernel.hopper_ring import Ring

    with pytest.raises(TypeError, match="Ring"):
        Ring(STAGES=2)  # type: ignore[call-arg]
