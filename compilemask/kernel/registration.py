"""The operators as PyTorch knows them: real, fake and differentiable, so that torch.compile sees one opaque call."""

from collections import OrderedDict

import torch
from torch import Tensor

from compilemask.descriptor.registry import find
from compilemask.errors import UsageError
from compilemask.kernel.dispatch import run_backward, run_forward
from compilemask.kernel.prepared import prepared

KEPT = 64  # masks that graphs used last stay alive: nothing else in a graph can hold them until its backward pass
_kept: OrderedDict[int, object] = OrderedDict()


def _keep(mask: int) -> None:
    alive = find(mask)
    if alive is None:
        return
    _kept[mask] = alive
    _kept.move_to_end(mask)
    if len(_kept) > KEPT:
        _kept.popitem(last=False)


@torch.library.custom_op("compilemask::attention", mutates_args=())
def attention_op(query: Tensor, key: Tensor, value: Tensor, mask: int, scale: float) -> tuple[Tensor, Tensor]:
    """Output [B, H, M, DV] and LSE [B, H, M]; `mask` is a handle of `compilemask.kernel.prepared`."""
    _keep(mask)
    return run_forward(query, key, value, prepared(mask), scale)


@attention_op.register_fake
def _(query: Tensor, key: Tensor, value: Tensor, mask: int, scale: float) -> tuple[Tensor, Tensor]:
    batch, heads, length, _ = query.shape
    lse_dtype = torch.float64 if query.dtype == torch.float64 else torch.float32
    return query.new_empty(batch, heads, length, value.shape[3]), query.new_empty(batch, heads, length, dtype=lse_dtype)


@torch.library.custom_op("compilemask::attention_backward", mutates_args=())
def attention_backward_op(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    lse: Tensor,
    grad_output: Tensor,
    grad_lse: Tensor | None,
    mask: int,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of query, key and value, contiguous."""
    return run_backward(query, key, value, output, lse, grad_output, grad_lse, prepared(mask), scale)


@attention_backward_op.register_fake
def _(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    lse: Tensor,
    grad_output: Tensor,
    grad_lse: Tensor | None,
    mask: int,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    return query.new_empty(query.shape), key.new_empty(key.shape), value.new_empty(value.shape)


def _setup_context(
    ctx: torch.autograd.function.FunctionCtx,
    inputs: tuple[Tensor, Tensor, Tensor, int, float],
    output: tuple[Tensor, Tensor],
) -> None:
    query, key, value, ctx.mask, ctx.scale = inputs  # type: ignore[attr-defined]
    ctx.save_for_backward(query, key, value, *output)
    ctx.set_materialize_grads(False)


def _backward(
    ctx: torch.autograd.function.FunctionCtx, grad_output: Tensor | None, grad_lse: Tensor | None
) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
    query, key, value, output, lse = ctx.saved_tensors  # type: ignore[attr-defined]
    if grad_output is None and grad_lse is None:
        return None, None, None, None, None
    if grad_output is None:
        grad_output = torch.zeros_like(output)
    grads = attention_backward_op(
        query, key, value, output, lse, grad_output, grad_lse, ctx.mask, ctx.scale  # type: ignore[attr-defined]
    )  # fmt: skip
    return *grads, None, None


attention_op.register_autograd(_backward, setup_context=_setup_context)


@torch.library.custom_op("compilemask::refuse", mutates_args=())
def refuse_op(query: Tensor, value: Tensor, words: str) -> tuple[Tensor, Tensor]:
    """Raises UsageError when the graph runs: what is wrong with a call that was found to be wrong as it was traced."""
    raise UsageError(words)


@refuse_op.register_fake
def _(query: Tensor, value: Tensor, words: str) -> tuple[Tensor, Tensor]:
    return query.new_empty((*query.shape[:-1], *value.shape[-1:])), query.new_empty(query.shape[:-1])


refuse_op.register_autograd(lambda *_: (None, None, None))
