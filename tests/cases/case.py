"""One case from practice: a mistake that users of attention libraries met, in small, and the right answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compilemask import pipeline
from tests.masks.predicates.registry import Draw, Mask, Parameters

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask


@dataclass(frozen=True, slots=True)
class DenseCase:
    """A mask and its matrix, made by a route of its own: [query, key] or [batch, head, query, key].

    `mask` is a library name, or the text of a mask file (more than one line). A text also says what its kind means for
    any parameters (`kind`), and draws some (`draw`); a library mask has that in the table of predicates.
    """

    name: str
    fact: str
    mask: str
    parameters: Parameters
    dense: Callable[[], Mask]
    kind: Callable[..., Mask] | None = field(default=None, repr=False)
    draw: Draw | None = field(default=None, repr=False)

    def compile(self, parameters: Parameters | None = None) -> CompiledMask:
        """The mask of the case, or of its kind with other parameters."""
        sizes = self.parameters if parameters is None else parameters
        if "\n" in self.mask:
            return pipeline.compile_text(self.mask, name=f"{self.name}.mask", params=sizes)
        return pipeline.compile(self.mask, params=sizes)

    def cells(self) -> Mask:
        """The right answer as [batch, head, query, key]."""
        return four(self.dense())


def four(mask: Mask) -> Mask:
    """[query, key] as [1, 1, query, key]; four dimensions stay."""
    return mask if mask.ndim == 4 else mask[None, None]
