"""Gluon aggregates on every Triton that the Hopper kernels run on."""

from typing import Any, dataclass_transform

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.runtime.jit import JITFunction


@dataclass_transform(kw_only_default=True, eq_default=False)
def aggregate(cls: Any) -> Any:
    """Class decorator: several Gluon values that functions, loops and warp specialisation pass on as one.

    An aggregate is made from its annotated fields by keyword, and fields are never assigned to: make another one.
    """
    return gluon.aggregate(cls) if hasattr(gluon, "aggregate") else _before_triton_3_9(cls)


def _before_triton_3_9(cls: Any) -> Any:
    """Triton's aggregates as they were before Gluon had them: with a constructor of their own."""
    from triton.language.core import _aggregate

    annotations = cls.__annotations__

    def __init__(self: Any, **fields: Any) -> None:
        if fields.keys() != annotations.keys():
            raise TypeError(f"{cls.__name__} takes the fields {', '.join(annotations)}, got {', '.join(fields)}")
        for name, value in fields.items():
            setattr(self, name, gl.constexpr(value) if annotations[name] is gl.constexpr else value)

    __init__.__triton_builtin__ = True  # type: ignore[attr-defined]
    cls.__init__ = __init__
    made = _aggregate(cls)
    # what a compiled kernel depends on; from Python 3.14 on a class has a plain function for its annotations, too
    made.hash_attrs = [member for member in made.hash_attrs if isinstance(member, JITFunction)]
    return made
