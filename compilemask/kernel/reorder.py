"""Token orders applied to tensors: axis 2 taken as the mask's order says."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from compilemask.kernel.launch_cache import Launcher, on_device

CELLS_PER_PROGRAM = 8192


def in_order(tensor: Tensor, order: Tensor | None) -> Tensor:
    """tensor[:, :, order]: [batch, heads, tokens] or [batch, heads, tokens, head_dim]; None keeps the tensor."""
    if order is None:
        return tensor
    if tensor.device.type != "cuda" or tensor.dim() != 4 or tensor.stride(3) != 1:
        return tensor.index_select(2, order)
    return _take(tensor, order)


def _take(tensor: Tensor, order: Tensor) -> Tensor:
    aligned = tensor.data_ptr() % 16 == 0
    return _rows_taken(tensor.device, tensor.dtype, tensor.shape, tensor.stride(), order.shape[0], aligned)(
        tensor, order
    )


@lru_cache(maxsize=1024)
def _rows_taken(
    device: torch.device,
    dtype: torch.dtype,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    length: int,
    aligned: bool,
) -> Callable[[Tensor, Tensor], Tensor]:
    """How tensors with this geometry, whose memory begins at a multiple of 16 bytes if `aligned`, are taken."""
    from compilemask.kernel.reorder_kernel import take_rows

    batch, heads, _, width = shape
    block_width = 1 << (width - 1).bit_length()
    rows = max(1, CELLS_PER_PROGRAM // block_width)
    known = aligned and all(stride % 16 == 0 for stride in strides[:3])
    constants = (*strides[:3], heads, length, width, block_width, rows, known)
    wide = max(strides[:3]) >= 1 << 31
    launcher = Launcher(take_rows, (device, dtype, width, known, wide, aligned), num_warps=4)
    programs = batch * heads * -(-length // rows)

    def take(tensor: Tensor, order: Tensor) -> Tensor:
        output = torch.empty(batch, heads, length, width, dtype=dtype, device=device)
        if output.numel() > 0:
            with on_device(device):
                launcher((programs, 1, 1), (tensor, order, output, *constants))
        return output

    return take
