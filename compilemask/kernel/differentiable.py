"""Attention as an autograd function for eager calls: fewer microseconds than an operator, and open to torch.func."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from compilemask.descriptor.registry import find
from compilemask.errors import UsageError
from compilemask.kernel.dispatch import ForwardCall, run_backward, run_forward
from compilemask.kernel.prepared import PreparedMask, prepared
from compilemask.kernel.registration import attention_backward_op, attention_op

REVERSE_ONLY = "compilemask.attention has gradients in reverse mode only: no jvp, linearize or dual tensors."


def check_reverse_mode(*tensors: Tensor) -> None:
    """Raises UsageError for dual tensors: an operator without a forward-mode formula would drop their tangents."""
    if forward_ad._current_level < 0:
        return
    if any(isinstance(t, Tensor) and forward_ad.unpack_dual(t).tangent is not None for t in tensors):
        raise UsageError(REVERSE_ONLY)


PLAIN = (Tensor, torch.nn.Parameter)


def is_plain(*tensors: Tensor) -> bool:
    """Whether these are tensors as they seem: no subclass such as DTensor, with memory, not followed by torch.func."""
    if torch._C._are_functorch_transforms_active():
        return False
    return all(type(tensor) in PLAIN and not tensor.is_meta for tensor in tensors)


def eager_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float, call: ForwardCall
) -> tuple[Tensor, Tensor]:
    """Output and LSE of plain, checked tensors; `call` is their `forward_call`."""
    wants_grad = query.requires_grad or key.requires_grad or value.requires_grad
    if wants_grad and torch.is_grad_enabled():
        return EagerAttention.apply(query, key, value, mask, scale, call)
    return call(query, key, value, mask, scale)


def transformed_attention(query: Tensor, key: Tensor, value: Tensor, mask: int, scale: float) -> tuple[Tensor, Tensor]:
    """Output and LSE of any other checked tensors; `mask` is a handle."""
    if torch._C._are_functorch_transforms_active():
        return Attention.apply(query, key, value, mask, scale)
    return attention_op(query, key, value, mask, scale)


class Attention(torch.autograd.Function):
    """(query, key, value, mask handle, scale) -> (output, LSE)."""

    @staticmethod
    def forward(query: Tensor, key: Tensor, value: Tensor, mask: int, scale: float) -> tuple[Tensor, Tensor]:
        if type(query) in PLAIN:
            return run_forward(query, key, value, prepared(mask), scale)
        return attention_op(query, key, value, mask, scale)

    @staticmethod
    def setup_context(
        ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, int, float], output: tuple[Tensor, Tensor]
    ) -> None:
        query, key, value, ctx.mask, ctx.scale = inputs
        ctx.kept = find(ctx.mask)  # the backward pass may come when nobody else has the mask any more
        ctx.save_for_backward(query, key, value, *output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(
        ctx: Any, grad_output: Tensor | None, grad_lse: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
        query, key, value, output, lse = ctx.saved_tensors
        if grad_output is None and grad_lse is None:
            return None, None, None, None, None
        if grad_output is None:
            grad_output = torch.zeros_like(output)
        tensors = (query, key, value, output, lse, grad_output, grad_lse)
        if torch.is_grad_enabled() or torch._C._are_functorch_transforms_active():
            grads = AttentionGradients.apply(*tensors, ctx.mask, ctx.scale)
        elif any(_is_batched(tensor) for tensor in (grad_output, grad_lse)):
            grads = attention_backward_op(*tensors, ctx.mask, ctx.scale)  # PyTorch runs an operator once for each
        else:  # the usual case, and far cheaper on the host
            grads = AttentionGradients.forward(*tensors, ctx.mask, ctx.scale)
        return *grads, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise UsageError(REVERSE_ONLY)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], query: Tensor, key: Tensor, value: Tensor, mask: int, scale: float
    ) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        folded = _fold(info.batch_size, in_dims[:3], (query, key, value), mask)
        output, lse = Attention.apply(*folded, mask, scale)
        return (_unfold(output, info.batch_size), _unfold(lse, info.batch_size)), (0, 0)


def _is_batched(tensor: Tensor | None) -> bool:
    """Whether this is what `torch.autograd.grad` with `is_grads_batched` sends: a vmap that torch.func knows not of."""
    return tensor is not None and torch._C._functorch.is_legacy_batchedtensor(tensor)


class EagerAttention(torch.autograd.Function):
    """The same outside torch.func: PyTorch spends less on functions whose `forward` takes the context itself."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float, call: ForwardCall
    ) -> tuple[Tensor, Tensor]:
        output, lse = call(query, key, value, mask, scale)
        Attention.setup_context(ctx, (query, key, value, mask.number, scale), (output, lse))
        return output, lse

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        return *Attention.backward(ctx, *grads), None


class AttentionGradients(torch.autograd.Function):
    """The backward pass; gradients of gradients are not defined."""

    @staticmethod
    def forward(
        query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad_output: Tensor,
        grad_lse: Tensor | None, mask: int, scale: float,
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        tensors = (query, key, value, output, lse, grad_output, grad_lse)
        if type(query) in PLAIN:
            return run_backward(*tensors, prepared(mask), scale)
        return attention_backward_op(*tensors, mask, scale)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise UsageError("compilemask.attention can be differentiated once, not twice.")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        *tensors, mask, scale = inputs
        folded = _fold(info.batch_size, in_dims[:7], tuple(tensors), mask)
        grads = AttentionGradients.apply(*folded, mask, scale)
        return tuple(_unfold(grad, info.batch_size) for grad in grads), (0, 0, 0)


def _fold(
    size: int, dims: tuple[int | None, ...], tensors: tuple[Tensor | None, ...], mask: int
) -> tuple[Tensor | None, ...]:
    """The mapped axis becomes part of the batch axis."""
    if prepared(mask).batch != 1:
        raise UsageError("torch.vmap needs a mask that is the same for the whole batch.")
    moved = (
        None if t is None else t.expand(size, *t.shape) if dim is None else t.movedim(dim, 0)
        for t, dim in zip(tensors, dims, strict=True)
    )  # fmt: skip
    return tuple(None if t is None else t.flatten(0, 1) for t in moved)


def _unfold(tensor: Tensor, size: int) -> Tensor:
    return tensor.unflatten(0, (size, -1))
