"""Token orders applied to tensors: axis 2 taken as the mask's order says."""

from __future__ import annotations

import torch
from torch import Tensor

from compilemask.kernel.launch_cache import launch

CELLS_PER_PROGRAM = 8192


def in_order(tensor: Tensor, order: Tensor | None) -> Tensor:
    """tensor[:, :, order]: [batch, heads, tokens] or [batch, heads, tokens, head_dim]; None keeps the tensor."""
    if order is None:
        return tensor
    if tensor.device.type != "cuda" or tensor.dim() != 4 or tensor.stride(3) != 1:
        return tensor.index_select(2, order)
    return _take(tensor, order)


def _take(tensor: Tensor, order: Tensor) -> Tensor:
    from compilemask.kernel.reorder_kernel import take_rows

    batch, heads, _, width = tensor.shape
    output = torch.empty(batch, heads, order.shape[0], width, dtype=tensor.dtype, device=tensor.device)
    if output.numel() == 0:
        return output
    strides = tensor.stride()[:3]
    aligned = tensor.data_ptr() % 16 == 0 and all(stride % 16 == 0 for stride in strides)
    wide = max(strides) >= 1 << 31
    block_width = 1 << (width - 1).bit_length()
    rows = max(1, CELLS_PER_PROGRAM // block_width)
    arguments = (tensor, order, output, *strides, heads, order.shape[0], width, block_width, rows, aligned)
    variant = (tensor.device, tensor.dtype, width, aligned, wide, tensor.data_ptr() % 16 == 0)
    programs = batch * heads * -(-order.shape[0] // rows)
    with torch.cuda.device(tensor.device):
        launch(take_rows, variant, (programs, 1, 1), arguments, num_warps=4)
    return output
