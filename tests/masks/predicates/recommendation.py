"""Recommendation histories with candidates, and masks over time."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.masks.predicates.registry import Mask, Parameters, axes, library_mask, owner, pairs, split


def _history(random: Random, n: int) -> Parameters:
    contexts, history, targets = split(random, n, 3)
    return {"contexts": contexts, "history": history, "targets": targets}


def _grouped(random: Random, n: int) -> Parameters:
    return _history(random, n) | {"group": random.randint(1, 5)}


@library_mask("hstu", _grouped)
@library_mask("hstu_nvidia", _grouped)
def hstu(contexts: int, history: int, targets: int, group: int) -> Mask:
    """The test of NVIDIA's kernel: hidden are earlier groups of targets; contexts see contexts and history."""
    border = contexts + history
    q, k = axes(border + targets)
    earlier_groups = (q >= border) & (border <= k) & (k < border + group * ((q - border) // group))
    return ((q < contexts) & (k < border)) | ((k <= q) & ~earlier_groups)


def _limited(random: Random, n: int) -> Parameters:
    drawn = _history(random, n)
    limits = {"max_attn_len": random.randint(1, n), "min_full_attn_len": random.choice([0, 0, random.randint(0, n)])}
    return drawn | limits


@library_mask("hstu_meta", _limited)
def hstu_meta(contexts: int, history: int, targets: int, max_attn_len: int, min_full_attn_len: int) -> Mask:
    """Meta's reference: contexts collapse to id 0, targets to the id of the end of the history."""
    border = contexts + history
    number = np.arange(border + targets)
    ids = np.maximum(number - contexts + 1, 0) if contexts > 0 else number
    end = border - (contexts - 1) if contexts > 0 else border
    rows, columns = pairs(np.minimum(ids, end))
    distance = rows - columns
    q, k = axes(border + targets)
    visible = (q == k) | (distance > 0)
    near = distance <= max_attn_len
    if min_full_attn_len > 0:
        near = near | (rows >= end - min_full_attn_len)
    visible &= near
    if contexts > 0:
        visible |= (q < contexts) & (k < border)
    return visible


@library_mask("hstu_meta_two_sided", _limited)
def hstu_meta_two_sided(contexts: int, history: int, targets: int, max_attn_len: int, min_full_attn_len: int) -> Mask:
    """The same with causal=False: distances have no sign."""
    total, end = contexts + history + targets, history + 1
    ids = np.repeat([0, end], [contexts, history + targets])
    ids[contexts : contexts + history] = np.arange(1, history + 1)
    rows, columns = pairs(ids)
    distance = np.abs(rows - columns)
    near = distance <= max_attn_len
    if min_full_attn_len > 0:
        near = near | (rows >= end - min_full_attn_len)
    q, k = axes(total)
    return ((q == k) | (distance > 0)) & near | ((q < contexts) & (k < contexts + history))


@library_mask("hstu_meta_cuda", _limited)
def hstu_meta_cuda(contexts: int, history: int, targets: int, max_attn_len: int, min_full_attn_len: int) -> Mask:
    border = contexts + history
    q, k = axes(border + targets)
    rows = hstu_meta(contexts, history, targets, max_attn_len, min_full_attn_len)
    return np.where(q >= border, (k < border) | (q == k), rows)


def _samples(random: Random, n: int) -> Parameters:
    count = random.randint(1, 4)
    sizes = split(random, n, 3 * count)
    parts = {"contexts": sizes[::3], "histories": sizes[1::3], "targets": sizes[2::3]}
    return parts | {"max_attn_len": random.randint(1, n)}


@library_mask("hstu_packed", _samples)
def hstu_packed(contexts: list[int], histories: list[int], targets: list[int], max_attn_len: int) -> Mask:
    total = sum(contexts) + sum(histories) + sum(targets)
    mask = np.zeros((total, total), bool)
    start = 0
    for sizes in zip(contexts, histories, targets, strict=True):
        end = start + sum(sizes)
        mask[start:end, start:end] = hstu_meta(*sizes, max_attn_len, 0)
        start = end
    return mask


def _context_target(random: Random, n: int) -> Parameters:
    count = random.randint(1, 4)
    sizes = split(random, n, 2 * count)
    return {"contexts": sizes[::2], "targets": sizes[1::2]}


@library_mask("hstu_documents", _context_target)
def hstu_documents(contexts: list[int], targets: list[int]) -> Mask:
    sizes = [size for both in zip(contexts, targets, strict=True) for size in both]
    part = owner(sizes)
    rows, columns = pairs(part)
    q, k = axes(len(part))
    context_row = (rows % 2 == 0) & (rows == columns) & (k <= q)
    target_row = (rows % 2 == 1) & ((columns == rows - 1) | (q == k))
    return context_row | target_row


def _cached(random: Random, n: int) -> Parameters:
    return _grouped(random, n) | {"new": random.randint(1, n)}


@library_mask("hstu_cached", _cached)
def hstu_cached(contexts: int, history: int, targets: int, group: int, new: int) -> Mask:
    return hstu(contexts, history, targets, group)[contexts + history + targets - new :]


def _asking(random: Random, n: int) -> Parameters:
    return {"events": n, "history": random.randint(0, n), "targets": random.randint(1, max(1, n // 3))}


@library_mask("hstu_cross", _asking)
def hstu_cross(events: int, history: int, targets: int) -> Mask:
    q, k = axes(history + targets, events)
    return k < np.minimum(q + 1 + (events - history), events)


def _semi_local(random: Random, n: int) -> Parameters:
    return _history(random, n) | {"window_size": random.randint(1, n), "sink": random.randint(0, n)}


@library_mask("sla", _semi_local)
def sla(contexts: int, history: int, targets: int, window_size: int, sink: int) -> Mask:
    border, kept = contexts + history, max(sink, contexts)
    mask = np.zeros((border + targets, border + targets), bool)
    for row in range(border):
        mask[row, : min(kept, row + 1)] = True
        mask[row, max(kept, row - window_size + 1) : row + 1] = True
    mask[border:, :border] = True
    return mask


def _candidates(random: Random, n: int) -> Parameters:
    tasks = random.randint(0, 3)
    candidates = random.randint(0, n // (2 * (tasks + 1)))
    return {"prefix": n - candidates * (tasks + 1), "candidates": candidates, "tasks": tasks}


@library_mask("onerank", _candidates)
def onerank(prefix: int, candidates: int, tasks: int) -> Mask:
    length = prefix + candidates * (1 + tasks)
    mask = np.tri(length, dtype=bool)
    for group in range(candidates):
        first = prefix + group * (1 + tasks)
        mask[first : first + 1 + tasks, prefix:] = np.eye(length, dtype=bool)[first : first + 1 + tasks, prefix:]
        mask[first : first + 1 + tasks, first] = True
    return mask


def _times(random: Random, n: int) -> Parameters:
    return {"times": sorted(random.choices(range(2 * n), k=n)), "span": random.randint(0, n)}


@library_mask("time_window", _times)
def time_window(times: list[int], span: int) -> Mask:
    now, then = pairs(np.array(times))
    return (then <= now) & (now - then <= span)


@library_mask("time_window_causal", _times)
def time_window_causal(times: list[int], span: int) -> Mask:
    return time_window(times, span) & np.tri(len(times), dtype=bool)


def _series(random: Random, n: int) -> Parameters:
    series = random.randint(1, max(1, n // 3))
    return {"series": series, "length": max(1, n // series)}


@library_mask("any_variate", _series)
def any_variate(series: int, length: int) -> Mask:
    return np.kron(np.ones((series, series), bool), np.tri(length, dtype=bool)).astype(bool)
