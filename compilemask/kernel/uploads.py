"""Tensors that belong to a mask: made on a stream of their own, read on any, and not given away while they are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache

import torch
from torch import Tensor


@contextmanager
def uploading(device: torch.device) -> Iterator[None]:
    """What is made within is complete afterwards, for every stream, and nobody's queued work was waited for."""
    if device.type != "cuda":
        yield
        return
    stream = _upload_stream(device)
    with torch.cuda.stream(stream):
        yield
    stream.synchronize()


@cache
def _upload_stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


def current_stream(device: torch.device) -> int:
    """A number for the stream that work is queued on now; the raw handle, as asking for the object takes longer."""
    return int(torch._C._cuda_getCurrentRawStream(device.index))


def keep_until_read(holder: object, device: torch.device) -> None:
    """Tells PyTorch that the device's current stream reads its tensors in `holder`, which may be dropped before."""
    for tensor in tensors_in(holder):
        if tensor.device == device:
            tensor.record_stream(torch.cuda.current_stream(device))


def tensors_in(holder: object) -> Iterator[Tensor]:
    """All tensors of nested dataclasses and tuples."""
    if isinstance(holder, Tensor):
        yield holder
    elif isinstance(holder, tuple):
        for part in holder:
            yield from tensors_in(part)
    elif is_dataclass(holder):
        for field in fields(holder):
            yield from tensors_in(getattr(holder, field.name))
