"""Shared prompts, preference pairs and trees."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.masks.predicates.registry import Mask, Parameters, axes, library_mask, owner, split


def _packed(random: Random, n: int) -> Parameters:
    prompts, responses = [], []
    for size in split(random, n, random.randint(1, 3)):
        prompt, *answers = split(random, size, 1 + random.randint(0, 4))
        prompts.append(prompt)
        responses.append(answers)
    return {"prompts": prompts, "responses": responses}


@library_mask("shared_prompt_rm", _packed)
def shared_prompt_rm(prompts: list[int], responses: list[list[int]]) -> Mask:
    length = sum(prompts) + sum(map(sum, responses))
    mask = np.zeros((length, length), bool)
    start = 0
    for prompt, answers in zip(prompts, responses, strict=True):
        mask[start : start + prompt, start : start + prompt] = np.tri(prompt, dtype=bool)
        end = start + prompt
        for answer in answers:
            mask[end : end + answer, start : start + prompt] = True
            mask[end : end + answer, end : end + answer] = np.tri(answer, dtype=bool)
            end += answer
        start = end
    return mask


def _pair(random: Random, n: int) -> Parameters:
    return dict(zip(("prompt", "chosen", "rejected"), split(random, n, 3), strict=True))


@library_mask("dpo", _pair)
def dpo(prompt: int, chosen: int, rejected: int) -> Mask:
    q, k = axes(prompt + chosen + rejected)
    border = prompt + chosen
    return (k <= q) & ~((q >= border) & (prompt <= k) & (k < border))


def _pairs(random: Random, n: int) -> Parameters:
    count = random.randint(1, 4)
    sizes = split(random, n, 3 * count)
    return {"prompts": sizes[::3], "chosen": sizes[1::3], "rejected": sizes[2::3]}


@library_mask("dpo_packed", _pairs)
def dpo_packed(prompts: list[int], chosen: list[int], rejected: list[int]) -> Mask:
    length = sum(prompts) + sum(chosen) + sum(rejected)
    mask = np.zeros((length, length), bool)
    start = 0
    for sizes in zip(prompts, chosen, rejected, strict=True):
        end = start + sum(sizes)
        mask[start:end, start:end] = dpo(*sizes)
        start = end
    return mask


def _random_tree(random: Random, count: int) -> list[int]:
    """Parents of a random forest in which a parent comes before its children."""
    return [-1 if node == 0 or random.random() < 0.1 else random.randrange(node) for node in range(count)]


def _depth_first(parents: list[int]) -> list[int]:
    """The same forest with its nodes renumbered depth first."""
    order: list[int] = []

    def walk(node: int) -> None:
        order.append(node)
        for child, parent in enumerate(parents):
            if parent == node:
                walk(child)

    for root, parent in enumerate(parents):
        if parent < 0:
            walk(root)
    place = {node: number for number, node in enumerate(order)}
    return [-1 if parents[node] < 0 else place[parents[node]] for node in order]


def _tree(random: Random, n: int) -> Parameters:
    count = random.randint(1, min(n, 12))
    return {"lengths": split(random, n, count), "parents": _depth_first(_random_tree(random, count))}


def _breadth_tree(random: Random, n: int) -> Parameters:
    count = random.randint(1, min(n, 12))
    return {"lengths": split(random, n, count), "parents": _random_tree(random, count)}


def ancestors(parents: list[int]) -> Mask:
    """[node, node]: the second is the first itself or one of its ancestors."""
    mask = np.eye(len(parents), dtype=bool)
    for node in range(len(parents)):
        above = parents[node]
        while above >= 0:
            mask[node, above] = True
            above = parents[above]
    return mask


@library_mask("prefix_tree", _tree)
def prefix_tree(lengths: list[int], parents: list[int]) -> Mask:
    count = len(parents)
    after = [max([d for d in range(count) if ancestors(parents)[d, node]]) + 1 for node in range(count)]
    node = owner(lengths)
    end = np.array(after)[node]
    q, k = axes(len(node))
    return (k <= q) & (node[:, None] < end[None, :])


@library_mask("prefix_tree_breadth", _breadth_tree)
def prefix_tree_breadth(lengths: list[int], parents: list[int]) -> Mask:
    node = owner(lengths)
    return ancestors(parents)[np.ix_(node, node)] & np.tri(len(node), dtype=bool)


def _trees(random: Random, n: int) -> Parameters:
    trees = [_breadth_tree(random, max(1, size)) for size in split(random, n, random.randint(1, 3))]
    return {"lengths": [tree["lengths"] for tree in trees], "parents": [tree["parents"] for tree in trees]}


@library_mask("prefix_trees_packed", _trees)
def prefix_trees_packed(lengths: list[list[int]], parents: list[list[int]]) -> Mask:
    total = sum(map(sum, lengths))
    mask = np.zeros((total, total), bool)
    start = 0
    for sizes, above in zip(lengths, parents, strict=True):
        end = start + sum(sizes)
        mask[start:end, start:end] = prefix_tree_breadth(sizes, above)
        start = end
    return mask


def _draft(random: Random, n: int) -> Parameters:
    return {"past": random.randint(0, n), "parents": _random_tree(random, random.randint(1, max(1, n // 2)))}


@library_mask("medusa", _draft)
def medusa(past: int, parents: list[int]) -> Mask:
    return np.hstack([np.ones((len(parents), past), bool), ancestors(parents)])


def _newest(random: Random, n: int) -> Parameters:
    parents = _random_tree(random, random.randint(1, max(1, n // 2)))
    return {"verified": random.randint(0, n), "parents": parents, "asking": random.randint(1, len(parents))}


@library_mask("draft_tree", _newest)
def draft_tree(verified: int, parents: list[int], asking: int) -> Mask:
    rows = ancestors(parents)[len(parents) - asking :]
    return np.hstack([np.ones((asking, verified), bool), rows])
