"""`torch.autocast` around attention: tensors are cast as PyTorch's own attention casts them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

CAST = (torch.bfloat16, torch.float16, torch.float32)


def autocast(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors in autocast's dtype where it is on for their device; float64 and what is no tensor stays."""
    if not torch.is_autocast_enabled() and not torch.is_autocast_enabled("cpu"):
        return tensors
    return tuple(_cast(tensor) if isinstance(tensor, Tensor) else tensor for tensor in tensors)


def _cast(tensor: Tensor) -> Tensor:
    kind = tensor.device.type
    if tensor.dtype not in CAST or not _is_on(kind):
        return tensor
    return tensor.to(torch.get_autocast_dtype(kind))


def without_autocast(tensor: Tensor) -> AbstractContextManager[object]:
    """Code that chooses its dtypes itself runs in it."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if _is_on(kind) else nullcontext()


def _is_on(kind: str) -> bool:
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
