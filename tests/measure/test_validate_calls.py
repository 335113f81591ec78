"""Validation is red where a kernel takes the wrong token order, sample or head, and says where; else it is green."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from compilemask.kernel import backward_launch, device_tensors, dispatch, forward_launch, prepared, reorder
from compilemask.kernel.backward_launch import ForwardResult
from compilemask.kernel.prepared import Orders
from compilemask.measure import kernel_checks, reduced_mask
from compilemask.measure.kernel_runs import called, interpreted, random_inputs
from compilemask.measure.machine import gpu_name
from compilemask.measure.report import Check, Outcome, WrongCell
from compilemask.measure.validate import validate
from compilemask.pipeline import CompiledMask, compile_text

pytestmark = pytest.mark.skipif(gpu_name() is not None, reason="the mutations are of the portable kernels' launches")

Patch = pytest.MonkeyPatch
OUTPUTS = ("out", "lse", "dq", "dk", "dv")

SMALL_ORDER = """
layout
    image : grid(9, 10)
rules
    image sees image : disc(below=4, edge=cut)
order image stored by (y // 4, x // 4)
"""
LONG_ORDER = SMALL_ORDER.replace("9, 10", "30, 40")
OF_KEYS = """
queries
    asking : 60
keys
    image : grid(30, 40)
align start
rules
    asking sees image : q.pos * 17 > k.pos
order image stored by (x // 4, y // 4)
"""
SAMPLES = """
param length = 300, left per batch = [0, 40, 90, 120, 160, 250]
layout
    padding : left
    token   : length - left
rules
    token sees token : causal
"""
HEADS = """
heads 6
layout
    token : 300
rules
    token sees token : window(behind=5 * head + 1, ahead=2)
"""
BOTH = """
param length = 100, left per batch = [0, 30]
heads 2
layout
    padding : left
    token   : length - left
rules
    token sees token : window(behind=9 * head + 3, ahead=0)
"""
ONE = """
layout
    token : 200
rules
    token sees token : causal
"""


@pytest.fixture
def small(monkeypatch: Patch) -> None:
    """Fewer tokens and one dtype, so that it takes less time: which sample or head is taken shows on any of them."""
    monkeypatch.setattr(kernel_checks, "INTERPRETED_SIZE", 64)
    monkeypatch.setattr(kernel_checks, "INTERPRETED_DTYPES", (torch.float16,))


def kernels(mask: CompiledMask) -> list[Check]:
    return [check for check in validate(mask).checks if check.name.startswith("kernel")]


def red(mask: CompiledMask) -> dict[str, WrongCell]:
    """What is wrong with the kernel by validation, and where; nothing else may be."""
    checks = validate(mask).checks
    failed = [check for check in checks if check.outcome is Outcome.FAIL]
    assert {check.name.split()[0] for check in failed} <= {"kernel"}
    assert all(check.first_wrong is not None for check in failed)
    named = [
        (check.name.removeprefix("kernel "), check.first_wrong) for check in failed if check.first_wrong is not None
    ]
    return dict(reversed(named))


TEXTS = {
    "small order": SMALL_ORDER, "long order": LONG_ORDER, "of keys": OF_KEYS, "samples": SAMPLES, "heads": HEADS,
    "both": BOTH, "one": ONE,
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_right_kernels_are_green(text: str) -> None:
    assert red(compile_text(text)) == {}


def test_what_was_compared_is_said() -> None:
    scopes = {check.name: check.scope for check in kernels(compile_text(SMALL_ORDER))}
    assert scopes["kernel float16 sets dk"] == "all 90 x 90 tokens, 1 head, head_dim 64, in token order"
    grouped = "reduced to 90 x 55 tokens, 2 samples, 4 heads, 2 key heads, head_dim 64, in token order"
    assert scopes["kernel float16 grouped dk"] == grouped
    sets = [check.scope for check in kernels(compile_text(HEADS)) if check.name == "kernel float16 sets out"]
    assert [scope.split(":")[0] for scope in sets] == ["head 0, 1, 2, 3", "head 4, 5"]


def twice(patch: Patch) -> None:
    patch.setattr(dispatch, "in_order", lambda x, order: reorder.in_order(reorder.in_order(x, order), order))


def orders(change: Callable[[Orders], Orders]) -> Callable[[Patch], None]:
    real = prepared._orders

    def mutate(patch: Patch) -> None:
        patch.setattr(prepared, "_orders", lambda *given: change(real(*given)))

    return mutate


def backward_only(patch: Patch) -> None:
    """The backward pass leaves dk and dv where the kernel put them."""
    real = dispatch.run_backward

    def mutated(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
        dq, dk, dv = real(*given)
        order = given[7].orders(dk.device).key
        return dq, dk.index_select(2, order), dv.index_select(2, order)

    patch.setattr("compilemask.kernel.differentiable.run_backward", mutated)


ALL = set(OUTPUTS)
ORDER_MUTATIONS: dict[str, tuple[Callable[[Patch], None], set[str]]] = {
    "taken twice": (twice, ALL),
    "query inverse left out": (orders(lambda o: replace(o, query_inverse=None)), ALL),
    "key inverse left out": (orders(lambda o: replace(o, key_inverse=None)), {"dk", "dv"}),
    "order for its inverse": (orders(lambda o: Orders(o.query, o.query, o.key, o.key)), ALL),
    "inverse for the order": (
        orders(lambda o: Orders(o.query_inverse, o.query_inverse, o.key_inverse, o.key_inverse)), ALL,
    ),
    "key order left out": (orders(lambda o: replace(o, key=None, key_inverse=None)), ALL),
    "backward inverse left out": (backward_only, {"dk", "dv"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDER_MUTATIONS)
def test_a_wrong_token_order_is_red(monkeypatch: Patch, name: str) -> None:
    mutate, outputs = ORDER_MUTATIONS[name]
    mutate(monkeypatch)

    found = red(compile_text(LONG_ORDER))

    assert {key.split()[-1] for key in found} == outputs
    assert {key.rsplit(" ", 1)[0] for key in found} == {
        "float32", "float32 adverse", "float16", "float16 adverse", "float16 grouped", "float16 sets",
    }  # fmt: skip
    for key, cell in found.items():
        token, region = (
            (cell.key, cell.key_region) if key.split()[-1] in ("dk", "dv") else (cell.query, cell.query_region)
        )
        assert token >= 0
        assert region.startswith("image+")


def test_an_order_of_keys_only_is_taken(monkeypatch: Patch) -> None:
    orders(lambda o: replace(o, key_inverse=o.key))(monkeypatch)

    assert {key.split()[-1] for key in red(compile_text(OF_KEYS))} == {"dk", "dv"}


def test_another_order_than_that_of_the_tiles_is_red(monkeypatch: Patch) -> None:
    real: Callable[..., Any] = reduced_mask._order_of
    monkeypatch.setattr(reduced_mask, "_order_of", lambda *given: np.roll(real(*given), 1))

    assert {key.split()[-1] for key in red(compile_text(SMALL_ORDER))} == ALL


def table_becomes(patch: Patch, change: Callable[[Tensor], Tensor]) -> None:
    """Kernels are told other masks for samples and heads."""
    real = device_tensors.to_device

    def mutated(*given: Any) -> Any:
        tensors = real(*given)
        return replace(tensors, variant=change(tensors.variant).contiguous())

    patch.setattr(prepared, "to_device", mutated)


def first_sample_for_all(variant: Tensor) -> Tensor:
    return variant[:1].expand_as(variant)


TABLE_MUTATIONS: dict[str, tuple[str, Callable[[Tensor], Tensor], tuple[int, int]]] = {
    "next sample": (SAMPLES, lambda variant: variant.roll(-1, 0), (0, 0)),
    "first sample for all": (SAMPLES, first_sample_for_all, (1, 0)),
    "next head": (HEADS, lambda variant: variant.roll(-1, 1), (0, 0)),
    "last head twice": (HEADS, lambda variant: variant.clamp(max=max(int(variant.max()) - 1, 0)), (0, 3)),
    "samples for heads": (BOTH, lambda variant: variant.T.reshape(variant.shape), (0, 1)),
    "next head of the two": (BOTH, lambda variant: variant.roll(-1, 1), (0, 0)),
    "first sample for both": (BOTH, first_sample_for_all, (1, 0)),
}


@pytest.mark.parametrize("name", TABLE_MUTATIONS)
@pytest.mark.usefixtures("small")
def test_a_wrong_sample_or_head_of_the_mask_is_red(monkeypatch: Patch, name: str) -> None:
    text, change, first = TABLE_MUTATIONS[name]
    table_becomes(monkeypatch, change)

    found = red(compile_text(text))

    assert {key.split()[-1] for key in found} == ALL
    assert (found["float16 sets out"].batch, found["float16 sets out"].head) == first


@pytest.mark.parametrize(
    ("text", "number"), [(SAMPLES, 5), (HEADS, 5), (HEADS, 3), (BOTH, 3)], ids=["sample", "head", "early head", "both"]
)
@pytest.mark.usefixtures("small")
def test_every_distinct_mask_is_run(monkeypatch: Patch, text: str, number: int) -> None:
    """A cell too many in one of them is named, with its sample and head."""
    real, mask = reduced_mask._variant, compile_text(text)

    def leaking(place: Any, queries: Any, keys: Any, order: Any) -> Any:
        variant = real(place, queries, keys, order)
        if place.number == number:
            variant.cells[-1, 3] ^= True
        return variant

    monkeypatch.setattr(reduced_mask, "_variant", leaking)

    cell = red(mask)["float16 sets out"]

    batch, head = np.argwhere(mask.variant == number)[0].tolist()
    assert (cell.batch, cell.head, cell.query, cell.key) == (batch, head, mask.query_length - 1, 3)


def keys_of(change: Callable[[Tensor], Tensor]) -> Callable[[Patch], None]:
    """The forward kernel reads the keys of other heads or samples."""
    real = forward_launch.portable_forward

    def mutate(patch: Patch) -> None:
        patch.setattr(forward_launch, "portable_forward", lambda q, k, v, *rest: real(q, change(k), change(v), *rest))

    return mutate


def gradients_of_other_heads(patch: Patch) -> None:
    """dk and dv sum over every second query head instead of two neighbours."""
    real = backward_launch.portable_backward

    def mutated(saved: ForwardResult, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
        dq, dk, dv = real(saved, *rest)
        heads, key_heads = saved.query.shape[1], saved.key.shape[1]
        turned = torch.arange(heads).reshape(-1, key_heads).T.flatten()
        tensors = [
            None if x is None else x[:, turned] for x in (saved.query, saved.out, saved.lse, saved.dout, saved.dlse)
        ]
        query, out, lse, dout, dlse = tensors
        assert query is not None
        assert out is not None
        assert lse is not None
        assert dout is not None
        _, dk, dv = real(ForwardResult(query, saved.key, saved.value, out, lse.contiguous(), dout, dlse), *rest)
        return dq, dk, dv

    patch.setattr(backward_launch, "portable_backward", mutated)


def dealt_out(k: Tensor) -> Tensor:
    """Key heads so that query head h of four reads h % 2 instead of h // 2."""
    return k if k.shape[1] == 1 else k[:, [0, 1, 0, 1]]


HEAD_MUTATIONS: dict[str, tuple[Callable[[Patch], None], set[str]]] = {
    "key heads dealt out": (keys_of(dealt_out), {"out", "lse", "dq", "dk", "dv"}),
    "next key head": (keys_of(lambda k: k.roll(1, 1)), {"out", "lse", "dq", "dk", "dv"}),
    "next sample": (keys_of(lambda k: k.roll(1, 0)), {"out", "lse", "dq", "dk", "dv"}),
    "sums over other heads": (gradients_of_other_heads, {"dk", "dv"}),
}


@pytest.mark.parametrize("name", HEAD_MUTATIONS)
@pytest.mark.usefixtures("small")
def test_wrong_heads_of_grouped_keys_are_red(monkeypatch: Patch, name: str) -> None:
    mutate, outputs = HEAD_MUTATIONS[name]
    mutate(monkeypatch)

    found = red(compile_text(ONE))

    assert set(found) == {f"float16 grouped {output}" for output in outputs}
    assert (found["float16 grouped dk"].batch, found["float16 grouped dk"].head) == (0, 0)


@pytest.mark.parametrize(
    ("text", "batch", "head", "taken", "name"),
    [
        (HEADS.replace("head +", "(head % 3) +"), 0, 4, 2, "descriptor samples and heads"),
        (BOTH, 1, 1, 0, "descriptor by query"),
    ],
    ids=["a later head of a mask", "the only one of a mask"],
)
def test_a_descriptor_that_gives_a_head_another_mask_is_red(
    text: str, batch: int, head: int, taken: int, name: str
) -> None:
    mask = compile_text(text)
    descriptor = mask.descriptor(64, 64)
    table = descriptor.variant.copy()
    table[batch, head] = taken

    report = validate(mask, descriptor=replace(descriptor, variant=table), kernel=False)

    check = next(check for check in report.checks if check.outcome is Outcome.FAIL)
    assert check.name == name
    assert check.first_wrong is not None
    assert (check.first_wrong.batch, check.first_wrong.head) == (batch, head)


def test_a_mask_that_was_called_before_is_interpreted_too(monkeypatch: Patch) -> None:
    mask = compile_text(SMALL_ORDER)
    given = random_inputs(torch.from_numpy(mask.dense())[None, None], torch.float32, 16, seed=3)
    plain, launched, real = called(mask, given, gradients=True), [], forward_launch.portable_forward

    def launch(*words: Any) -> tuple[Tensor, Tensor]:
        launched.append(words)
        return real(*words)

    monkeypatch.setattr(forward_launch, "portable_forward", launch)

    found = interpreted(mask, given)

    assert launched
    torch.testing.assert_close(found.out, plain.out)
    torch.testing.assert_close(found.dk, plain.dk)
