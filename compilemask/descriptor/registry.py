"""Numbers for masks: what stands for a mask where only numbers pass, as in operators registered with PyTorch."""

from __future__ import annotations

import itertools
import secrets
import weakref

# not the same in two processes: a graph that was saved with a number must not find another mask under it
_numbers = itertools.count(secrets.randbelow(1 << 40) + 1)
_masks: weakref.WeakValueDictionary[int, object] = weakref.WeakValueDictionary()


def register(mask: object) -> int:
    """A number for a new mask, never given to another one; the mask is not kept alive."""
    number = next(_numbers)
    _masks[number] = mask
    return number


def find(number: int) -> object | None:
    """The mask of a number; None once it is gone."""
    return _masks.get(number)
