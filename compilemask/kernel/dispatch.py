"""Which code runs a call: plain PyTorch, the portable Triton kernels, or a kernel made for the GPU at hand."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from compilemask.errors import UsageError
from compilemask.kernel import cpu
from compilemask.kernel.backward_configurations import backward_configuration
from compilemask.kernel.configurations import Family, family_of, forward_configuration
from compilemask.kernel.hopper_launch import hopper_accepts, hopper_forward
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.reorder import in_order


@cache
def gpu_family(device: torch.device) -> Family:
    """The family of a CUDA device."""
    return family_of(torch.cuda.get_device_capability(device))


def run_forward(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor]:
    """Output and LSE of checked tensors in the caller's token order. Raises UsageError on another batch or heads."""
    if mask.batch not in (1, query.shape[0]):
        raise UsageError(f"q must have the mask's batch size, {mask.batch}, but has {query.shape[0]}.")
    if mask.heads not in (1, query.shape[1]):
        raise UsageError(f"q must have the mask's {mask.heads} heads, but has {query.shape[1]}.")
    if _is_empty(query, key):
        return _nothing_seen(query, value)
    orders = mask.orders(query.device)
    query = in_order(query, orders.query)
    key, value = in_order(key, orders.key), in_order(value, orders.key)
    if _is_plain(query):
        output, lse = cpu.forward(query, key, value, mask, scale)
    else:
        output, lse = _gpu_forward(query, key, value, mask, scale)
    return in_order(output, orders.query_inverse), in_order(lse, orders.query_inverse)


def run_backward(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad_output: Tensor,
    grad_lse: Tensor | None, mask: PreparedMask, scale: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of query, key and value, contiguous, in the caller's token order."""
    if _is_empty(query, key):
        return query.new_zeros(query.shape), key.new_zeros(key.shape), value.new_zeros(value.shape)
    orders = mask.orders(query.device)
    query, output, lse, grad_output = (in_order(t, orders.query) for t in (query, output, lse, grad_output))
    key, value = in_order(key, orders.key), in_order(value, orders.key)
    grad_lse = None if grad_lse is None else in_order(grad_lse, orders.query)
    if _is_plain(query):
        dq, dk, dv = cpu.backward(query, key, value, output, lse, grad_output, grad_lse, mask, scale)
    else:
        dq, dk, dv = _gpu_backward(query, key, value, output, lse, grad_output, grad_lse, mask, scale)
    inverse = orders.key_inverse
    return in_order(dq, orders.query_inverse), in_order(dk, inverse), in_order(dv, inverse)


def _is_empty(query: Tensor, key: Tensor) -> bool:
    return query.numel() == 0 or key.numel() == 0


def _nothing_seen(query: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Output and LSE where there is no query, or no key to see."""
    lse_dtype = torch.float64 if query.dtype == torch.float64 else torch.float32
    output = query.new_zeros(*query.shape[:3], value.shape[3])
    return output, query.new_full(query.shape[:3], float("-inf"), dtype=lse_dtype)


def _is_plain(query: Tensor) -> bool:
    return query.device.type != "cuda" or query.dtype == torch.float64


def _gpu_forward(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor]:
    device = query.device
    if torch.cuda.current_device() != device.index:
        with torch.cuda.device(device):
            return _gpu_forward(query, key, value, mask, scale)
    family = gpu_family(device)
    if family is Family.HOPPER and hopper_accepts(query, value, scale):
        return hopper_forward(query, key, value, mask, scale)
    from compilemask.kernel.forward_launch import portable_forward

    configuration = forward_configuration(family, query.dtype, query.shape[3], value.shape[3])
    tensors = mask.tensors(configuration.block_m, configuration.block_n, device)
    return portable_forward(query, key, value, tensors, scale, configuration)


def _gpu_backward(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad_output: Tensor,
    grad_lse: Tensor | None, mask: PreparedMask, scale: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    from compilemask.kernel.backward_launch import ForwardResult, portable_backward
    from compilemask.kernel.hopper_backward_launch import hopper_backward, hopper_backward_accepts

    device = query.device
    family = gpu_family(device)
    saved = ForwardResult(query, key, value, output, lse, grad_output, grad_lse)
    with torch.cuda.device(device):
        if family is Family.HOPPER and hopper_backward_accepts(query, value, scale):
            return hopper_backward(saved, mask, scale)
        configuration = backward_configuration(family, query.dtype, query.shape[3], value.shape[3])
        by_key, by_query = (
            mask.tensors(launch.block_m, launch.block_n, device)
            for launch in (configuration.keys, configuration.queries)
        )
        return portable_backward(saved, by_key, by_query, scale, configuration)
