"""The values of the language: 64-bit integers, booleans, strings, lists and `any`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


def told(number: int) -> str:
    """A number in a message; of a very long one, which Python may even refuse to write, how long it is."""
    bits = number.bit_length()
    return str(number) if bits < 256 else f"of some {int(bits * 0.30103) + 1:,} digits"


class Unbounded(Enum):
    """The type of `any`: no bound. It can be stored, compared, added to and subtracted from."""

    ANY = "any"

    def __repr__(self) -> str:
        return "any"


ANY = Unbounded.ANY


class ListValue:
    """An immutable list (or tuple) of values; a flat list of integers or of booleans is kept as one array.

    `array` is int64[n] or bool[n] for such a list and None for any other (nested, strings, mixed). `total` counts the
    entries of the list and of all lists in it.
    """

    __slots__ = ("_array", "_items", "_looked_at", "total")

    def __init__(self, items: Sequence[Value] | NDArray[Any]) -> None:
        self._array: NDArray[np.int64] | NDArray[np.bool_] | None = None
        self._items: tuple[Value, ...] | None = None
        self._looked_at = isinstance(items, np.ndarray)
        self.total = len(items)
        if isinstance(items, np.ndarray):
            self._array = items.astype(np.bool_) if items.dtype == np.bool_ else items.astype(np.int64)
            self._array.setflags(write=False)
        else:
            self._items = tuple(items)
            self.total += sum([item.total for item in self._items if type(item) is ListValue])

    @property
    def array(self) -> NDArray[np.int64] | NDArray[np.bool_] | None:
        """The entries as an array, made when first asked for."""
        if not self._looked_at:
            self._looked_at = True
            self._array = _packed(self.items)
            if self._array is not None:
                self._array.setflags(write=False)
        return self._array

    @property
    def items(self) -> tuple[Value, ...]:
        """The entries as Python values."""
        if self._items is None:
            assert self._array is not None
            self._items = tuple(self._array.tolist())
        return self._items

    def __len__(self) -> int:
        held = self._array if self._items is None else self._items
        assert held is not None
        return len(held)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)

    def __getitem__(self, index: int) -> Value:
        return self.items[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListValue) or len(self) != len(other):
            return False
        if self.array is not None and other.array is not None:
            return self.array.dtype == other.array.dtype and bool(np.array_equal(self.array, other.array))
        return self.items == other.items

    def __hash__(self) -> int:
        first = self.items[:8] if self.array is None else tuple(self.array[:8].tolist())
        return hash((len(self), first))

    def __repr__(self) -> str:
        shown = ", ".join(show(item) for item in self.items[:8])
        return f"[{shown}{', ...' if len(self) > 8 else ''}]"


@dataclass(frozen=True, slots=True)
class Grid:
    """The size of a region whose tokens have coordinates: extents of x, of y and x, or of t, y and x."""

    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"grid({', '.join(str(extent) for extent in self.shape)})"


Value = int | bool | str | Unbounded | ListValue | Grid


def _packed(items: tuple[Value, ...]) -> NDArray[np.int64] | NDArray[np.bool_] | None:
    if all(type(item) is int for item in items):
        return np.array(items, dtype=np.int64)
    if all(type(item) is bool for item in items):
        return np.array(items, dtype=np.bool_)
    return None


def show(value: Value | None) -> str:
    """A value as it is written in a mask file."""
    match value:
        case None:
            return "absent"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
        case _:
            return repr(value)


def plain(value: Value | None) -> Any:
    """A value as JSON and Python have it; no bound is None, as parameters take it."""
    if isinstance(value, ListValue):
        return [plain(item) for item in value.items]
    return value if isinstance(value, int | str) else None


def describe(value: Value) -> str:
    """The kind of a value, for messages: `a number`, `a list of 3`."""
    match value:
        case bool():
            return "a condition"
        case int():
            return "a number"
        case str():
            return "a string"
        case ListValue():
            return f"a list of {len(value)}"
        case Grid():
            return "a grid"
        case _:
            return "`any`"
