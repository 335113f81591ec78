"""Which code runs a call: plain PyTorch, the portable Triton kernels, or a kernel made for the GPU at hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor

from compilemask.errors import UsageError
from compilemask.kernel import cpu
from compilemask.kernel.backward_configurations import backward_configuration
from compilemask.kernel.configurations import Family, family_of, forward_configuration
from compilemask.kernel.hopper_launch import hopper_accepts, hopper_call
from compilemask.kernel.launch_cache import on_device
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.reorder import in_order


@cache
def gpu_family(device: torch.device) -> Family:
    """The family of a CUDA device; kernels that are given CPU tensors are interpreted."""
    return Family.INTERPRETER if device.type == "cpu" else family_of(torch.cuda.get_device_capability(device))


ForwardCall = Callable[[Tensor, Tensor, Tensor, PreparedMask, float], tuple[Tensor, Tensor]]
"""(query, key, value, mask, scale) -> (output, LSE), in the caller's token order."""


def forward_call(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> ForwardCall:
    """How calls run that share shapes, strides, dtype and device with these checked tensors, and `is_usual` of scale.

    Raises UsageError on another batch or heads than the mask has.
    """
    check_batch_and_heads(query, mask)
    if _is_empty(query, key):
        return _nothing_seen
    orders = mask.orders(query.device)
    if orders.query is not None or orders.key is not None:
        return ReorderedCall()
    return _kernel_call(query, key, value, mask, scale)


def check_batch_and_heads(query: Tensor, mask: PreparedMask) -> None:
    """Raises UsageError unless the mask is for every batch and head or for those of the queries."""
    if mask.batch not in (1, query.shape[0]):
        raise UsageError(f"q must have the mask's batch size, {mask.batch}, but has {query.shape[0]}.")
    if mask.heads not in (1, query.shape[1]):
        raise UsageError(f"q must have the mask's {mask.heads} heads, but has {query.shape[1]}.")


def run_forward(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor]:
    """One call, as of `forward_call`."""
    return forward_call(query, key, value, mask, scale)(query, key, value, mask, scale)


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
    if _is_plain(query, mask):
        dq, dk, dv = cpu.backward(query, key, value, output, lse, grad_output, grad_lse, mask, scale)
    else:
        dq, dk, dv = _gpu_backward(query, key, value, output, lse, grad_output, grad_lse, mask, scale)
    inverse = orders.key_inverse
    return in_order(dq, orders.query_inverse), in_order(dk, inverse), in_order(dv, inverse)


def _is_empty(query: Tensor, key: Tensor) -> bool:
    return query.numel() == 0 or key.numel() == 0


def _nothing_seen(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor]:
    """Where there is no query, or no key to see."""
    lse_dtype = torch.float64 if query.dtype == torch.float64 else torch.float32
    output = query.new_zeros(*query.shape[:3], value.shape[3])
    return output, query.new_full(query.shape[:3], float("-inf"), dtype=lse_dtype)


class ReorderedCall:
    """Masks with a token order: tensors go into it first, and the results come back."""

    def __init__(self) -> None:
        self._call: ForwardCall | None = None

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float
    ) -> tuple[Tensor, Tensor]:
        orders = mask.orders(query.device)
        query = in_order(query, orders.query)
        key, value = in_order(key, orders.key), in_order(value, orders.key)
        if self._call is None:  # as shapes of the same call, those of reordered tensors stay the same
            self._call = _kernel_call(query, key, value, mask, scale)
        output, lse = self._call(query, key, value, mask, scale)
        return in_order(output, orders.query_inverse), in_order(lse, orders.query_inverse)


def _is_plain(query: Tensor, mask: PreparedMask) -> bool:
    """Whether plain PyTorch operations run it: float64, or no GPU that the kernels are for and no interpreter."""
    if query.device.type != "cuda":
        return not mask.interpreted or query.dtype == torch.float64
    return query.dtype == torch.float64 or not has_kernels(query.device)


@cache
def has_kernels(device: torch.device) -> bool:
    """Whether a CUDA device is one that the kernels run on: NVIDIA, Ampere or later."""
    return torch.version.hip is None and torch.cuda.get_device_capability(device) >= (8, 0)


def _kernel_call(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> ForwardCall:
    """As `forward_call`, for tensors in the mask's own token order."""
    if _is_plain(query, mask):
        return cpu.forward
    call: ForwardCall = _portable_forward
    if gpu_family(query.device) is Family.HOPPER and hopper_accepts(query, value, scale):
        call = hopper_call(query, key, value, mask)
    return call if torch.cuda.device_count() <= 1 else partial(_on_its_device, call)


def _on_its_device(
    call: ForwardCall, query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float
) -> tuple[Tensor, Tensor]:
    with on_device(query.device):
        return call(query, key, value, mask, scale)


def _portable_forward(
    query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float
) -> tuple[Tensor, Tensor]:
    from compilemask.kernel.forward_launch import portable_forward

    configuration = forward_configuration(gpu_family(query.device), query.dtype, query.shape[3], value.shape[3])
    tensors = mask.tensors(configuration.block_m, configuration.block_n, query.device)
    mask.is_read_here(query.device)
    query, key, value = (_addressable(tensor) for tensor in (query, key, value))
    return portable_forward(query, key, value, tensors, scale, configuration)


def _addressable(tensor: Tensor) -> Tensor:
    """The tensor, or a copy where a column lies further from its row's start than 32 bits count."""
    return tensor if tensor.stride(-1) * tensor.shape[-1] < 1 << 31 else tensor.contiguous()


def _gpu_backward(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad_output: Tensor,
    grad_lse: Tensor | None, mask: PreparedMask, scale: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    from compilemask.kernel.backward_launch import ForwardResult, portable_backward
    from compilemask.kernel.hopper_backward_launch import hopper_backward, hopper_backward_accepts

    device = query.device
    family = gpu_family(device)
    query, key, value, output, grad_output = map(_addressable, (query, key, value, output, grad_output))
    saved = ForwardResult(query, key, value, output, lse, grad_output, grad_lse)
    with on_device(device):
        if family is Family.HOPPER and hopper_backward_accepts(query, value, scale):
            return hopper_backward(saved, mask, scale)
        configuration = backward_configuration(family, query.dtype, query.shape[3], value.shape[3])
        by_key, by_query = (
            mask.tensors(launch.block_m, launch.block_n, device)
            for launch in (configuration.keys, configuration.queries)
        )
        mask.is_read_here(device)
        return portable_backward(saved, by_key, by_query, scale, configuration)
