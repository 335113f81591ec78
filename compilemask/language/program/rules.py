"""Rules, distinct masks, and the whole bound program."""

from __future__ import annotations

from dataclasses import dataclass, field

from compilemask.language.axis import Axis
from compilemask.language.program.expressions import Bound
from compilemask.language.program.relations import By, Relation
from compilemask.language.program.selectors import Selector
from compilemask.source import Diagnostic, Source


@dataclass(frozen=True, slots=True)
class Rule(Bound):
    """`who sees whom : how` or, where `shows` is false, `who cannot see whom : how`.

    `number` counts the rules and limits of the file from 1, in the order in which they run.
    """

    number: int = field(compare=False)
    shows: bool
    who: Selector
    whom: Selector
    how: Relation


@dataclass(frozen=True, slots=True)
class Limit(Bound):
    """`limit : how`: visible only if it holds too."""

    number: int = field(compare=False)
    how: Relation


@dataclass(frozen=True, slots=True)
class RuleList:
    """The rules that run for one head of one sample, in their order, limits among them.

    visible(q, k) = neither is padding, the last rule whose who holds q, whose whom holds k and whose how holds for the
    pair shows, and every limit holds.
    """

    rules: tuple[Rule | Limit, ...]


@dataclass(frozen=True, slots=True)
class Order(Bound):
    """`order S stored by C`: the kernel sorts the tokens of S by C, stably, in the slots that S has, on both axes.

    `selector` and `coordinate` are None for `order best`. Never changes the mask.
    """

    selector: Selector | None
    coordinate: By | None


@dataclass(frozen=True, slots=True)
class Variant:
    """One distinct mask: two axes (the same object where the file has one layout) and the rules."""

    queries: Axis
    keys: Axis
    rules: RuleList
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole mask, bound. `variant[b][h]` is the place in `variants` of sample b and head h.

    A single row or column broadcasts: `batch` and `heads` are 1 where the file fixes neither. All variants have the
    same lengths. `diagnostics` holds warnings and notes only.
    """

    name: str
    title: str
    source: Source
    batch: int
    heads: int
    variants: tuple[Variant, ...]
    variant: tuple[tuple[int, ...], ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def query_length(self) -> int:
        return self.variants[0].queries.length

    @property
    def key_length(self) -> int:
        return self.variants[0].keys.length

    def variant_of(self, batch: int = 0, head: int = 0) -> Variant:
        """The mask of one sample and head; a program of one sample or one head serves every number."""
        row = self.variant[batch if self.batch > 1 else 0]
        return self.variants[row[head if self.heads > 1 else 0]]
