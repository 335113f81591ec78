"""`compilemask compare`: equal or not, and where two masks first differ."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from compilemask.command_line.main import main
from tests.command_line.running import PAIR, Capture, answered, printed, refused
from tests.mask_texts import BATCHED


def test_equal_masks_are_told_with_their_size(capsys: Capture, pair: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mask"
    other.write_text(PAIR.replace("answer sees prompt : all", "answer sees prompt : causal") + "order best\n")

    assert printed(capsys, "compare", pair, other).startswith(
        f"equal: {pair} and {other} show the same cells (12 queries × 12 keys)\n"
    )
    assert answered(capsys, "compare", "causal", "causal", "--set", "length=7")["equal"] is True


def test_the_first_differing_cell_is_explained_on_both_sides(capsys: Capture, pair: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mask"
    other.write_text(PAIR.replace("causal within answer", "causal"))

    said = printed(capsys, "compare", pair, other, code=1)
    found = answered(capsys, "compare", pair, other, code=1)

    assert said.splitlines() == [
        "different: 12 of 144 cells differ (12 queries × 12 keys)",
        f"  0 visible in {pair} only, 12 in {other} only",
        "first at query 8, key 5",
        f"{pair}: query answer[1]+0, key answer[0]+0",
        "  not visible: no rule shows it",
        "    line 12: answer sees answer : causal within answer — query's answer 1 is not key's answer 0",
        f"{other}: query answer[1]+0, key answer[0]+0",
        "  visible: rule 3 (line 12) shows it",
        f"    {other}:12: answer sees answer : causal",
    ]
    assert (found["equal"], found["cells"], found["differing"]) == (False, 144, 12)
    assert (found["only_a"], found["only_b"], found["lengths_differ"]) == (0, 12, False)
    first = found["first"]
    assert (first["batch"], first["head"], first["query"], first["key"]) == (0, 0, 8, 5)
    explained = answered(capsys, "explain", pair, "--query", "8", "--key", "5")
    assert first["a"] == {name: explained[name] for name in first["a"]}
    assert (first["b"]["visible"], first["b"]["rule"], first["b"]["query_region"]) == (True, 3, "answer[1]+0")


def test_each_mask_has_its_own_sizes(capsys: Capture) -> None:
    sizes = ("--set", "length=64", "--set-a", "size=9", "--set-b", "size=5", "--set-b", "size=9")

    assert answered(capsys, "compare", "sliding_window", "sliding_window", *sizes)["equal"] is True
    over = ("--set", "size=7", *sizes)
    own = answered(capsys, "compare", "sliding_window", "sliding_window", *over)
    assert {one["name"]: one["value"] for one in own["a"]["parameters"]} == {"length": 64, "size": 9}
    found = answered(capsys, "compare", "sliding_window", "sliding_window", *sizes[:-2], code=1)
    assert found["first"]["query"] == 5
    assert [found[side]["name"] for side in "ab"] == ["sliding_window (A)", "sliding_window (B)"]
    assert {one["name"]: one["value"] for one in found["b"]["parameters"]} == {"length": 64, "size": 5}


def test_different_lengths_are_told_with_the_sizes_to_set(capsys: Capture) -> None:
    words = ("compare", "causal", "sliding_window", "--set-a", "length=64", "--set-b", "length=100")

    assert printed(capsys, *words, code=1).splitlines() == [
        "different: the lengths differ, so no cell was compared; give both the same sizes",
        "causal: 64 queries × 64 keys",
        "  --set-a changes length=64",
        "sliding_window: 100 queries × 100 keys",
        "  --set-b changes length=100, size=256",
    ]
    found = answered(capsys, *words, code=1)
    assert (found["equal"], found["lengths_differ"], found["differing"], found["first"]) == (False, True, None, None)
    assert (found["a"]["query_length"], found["b"]["key_length"]) == (64, 100)


def test_an_array_of_somebody_elses_code_is_compared(capsys: Capture, tmp_path: Path) -> None:
    cells = np.tri(40, dtype=np.bool_)
    np.save(tmp_path / "theirs.npy", cells)
    cells[30, 7] = False
    np.save(tmp_path / "wrong.npy", cells.astype(np.int32))
    words = ("compare", "causal", "--set", "length=40")

    assert answered(capsys, *words, tmp_path / "theirs.npy")["equal"] is True
    said = printed(capsys, *words, tmp_path / "wrong.npy", code=1)
    assert "first at query 30, key 7\ncausal: query token+30, key token+7\n  visible: rule 1" in said
    assert said.endswith("wrong.npy: an array, which has no regions\n  not visible: the array says so\n")
    assert answered(capsys, *words, tmp_path / "wrong.npy", code=1)["first"]["b"] == {"visible": False}
    assert answered(capsys, "compare", tmp_path / "wrong.npy", tmp_path / "theirs.npy", code=1)["only_b"] == 1


def test_batch_entries_and_heads_are_chosen(capsys: Capture, tmp_path: Path) -> None:
    batched = tmp_path / "batched.mask"
    batched.write_text(BATCHED)
    words = ("compare", batched, "causal", "--set-b", "length=9")

    assert "(9 queries × 9 keys, all 2 batch entries, all 2 heads)" in printed(capsys, *words, code=1)
    assert "first at query 3, key 0 of batch entry 0, head 0" in printed(capsys, *words, code=1)
    said = printed(capsys, *words, "--head", "1")
    assert said.endswith("show the same cells (9 queries × 9 keys, all 2 batch entries, head 1 of 2)\n")
    assert answered(capsys, *words, "--batch", "1")["cells"] == 2 * 81
    assert "--head 2: " in refused(capsys, *words, "--head", "2", code=2)


def test_an_order_of_tokens_changes_no_cell_and_is_told(capsys: Capture, pair: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mask"
    other.write_text(PAIR + "order answer stored by -at\n")

    said = printed(capsys, "compare", pair, other)

    assert said.startswith("equal: ")
    assert said.endswith("in which the caller holds the tokens, as attention sees them\n")
    assert answered(capsys, "compare", pair, other)["token_orders_differ"] is True
    assert answered(capsys, "compare", other, other)["token_orders_differ"] is False


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("causal",), 2, "the following arguments are required: B"),
        (("causal", "none.npy"), 2, "none.npy: No such file"),
        (("causal", "three.npy"), 2, "causal has 1 head and 1 sample: save `x[None]` for heads"),
        (("causal", "five.npy"), 2, "expected booleans (or 0 and 1), [queries, keys] or [batch, heads, queries, keys]"),
        (("causal", "two.npy"), 2, "two.npy: not dense: it holds other values"),
        (("causal", "float.npy"), 2, "holds float32 values such as 1; expected booleans, or a mask to add"),
        (("causal", "bool.npy", "--set-b", "n=3"), 2, "bool.npy: an array has no parameters: expected no --set-b"),
        (("bool.npy", "bool.npy", "--set", "n=3"), 2, "arrays have no parameters"),
        (("causal", "clear", "--set", "length=9"), 1, "clear: error[unknown-parameter]: the mask has no parameter"),
        (("clear", "wrong.mask"), 1, "wrong.mask:4:5: error["),
    ],
)
def test_what_cannot_be_compared_is_one_clear_message(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("bool.npy", np.ones((3, 3), np.bool_))
    np.save("three.npy", np.ones((3, 3, 3), np.bool_))
    np.save("five.npy", np.ones((1, 1, 1, 3, 3), np.bool_))
    np.save("two.npy", np.full((3, 3), 2))
    np.save("float.npy", np.ones((3, 3), np.float32))
    Path("wrong.mask").write_text("layout\n    a : 1\nrules\n    b sees a : all\n")

    assert said in refused(capsys, "compare", *words, code=code)
    assert main(["compare", *words, "--json"]) == code
    assert json.loads(capsys.readouterr().out)


HEADS = "heads 2\nlayout\n    a : 4\nrules\n    a sees a : causal\nrules when head == 1\n    a sees a : all\n"
SAMPLES = "param n per batch = [3, 4]\nlayout\n    a : n\n    padding : 4 - n\nrules\n    a sees a : causal\n"


def test_the_first_of_three_axes_is_what_the_mask_has_as_many_of(capsys: Capture, tmp_path: Path) -> None:
    low = np.tri(4, dtype=np.bool_)
    short = low & (np.arange(4) < 3) & (np.arange(4) < 3)[:, None]
    (tmp_path / "heads.mask").write_text(HEADS)
    (tmp_path / "samples.mask").write_text(SAMPLES)
    np.save(tmp_path / "heads.npy", np.stack([low, np.ones_like(low)]))
    np.save(tmp_path / "samples.npy", np.stack([short, low]))
    np.save(tmp_path / "one.npy", low[None])
    (tmp_path / "one.mask").write_text(HEADS.partition("rules when")[0].replace("heads 2\n", ""))

    for name in ("heads", "samples", "one"):
        for pair in ((f"{name}.npy", f"{name}.mask"), (f"{name}.mask", f"{name}.npy")):
            assert answered(capsys, "compare", *(tmp_path / file for file in pair))["equal"] is True


def test_a_first_axis_that_may_be_either_is_asked_for(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "two.mask").write_text("heads 2\n" + SAMPLES + "rules when head == 1\n    a sees a : all\n")
    np.save(tmp_path / "two.npy", np.ones((2, 4, 4), np.bool_))
    for names in (("two.npy", "two.mask"), ("two.mask", "two.npy"), ("two.npy", "two.npy")):
        said = refused(capsys, "compare", *(tmp_path / name for name in names), code=2)
        assert "whose first axis may be heads or samples" in said
        assert "save `x[None]` for heads, `x[:, None]` for samples" in said
        assert ("two has 2 heads and 2 samples" in said) == ("two.mask" in names)


def test_a_parameter_of_one_mask_is_told_how_to_be_set(capsys: Capture) -> None:
    said = refused(capsys, "compare", "sliding_window", "causal", "--set", "size=8", code=1)
    assert "the mask has no parameter `size`" in said
    assert "set by --set-a or --set-b" in said
    assert "--set-a" not in refused(capsys, "compare", "causal", "causal", "--set-b", "size=8", code=1)


def test_a_mask_to_add_is_compared_as_what_it_leaves(capsys: Capture, tmp_path: Path) -> None:
    np.save(tmp_path / "added.npy", np.where(np.tri(5, dtype=np.bool_), 0, -np.inf).astype(np.float32))
    assert main(["compare", str(tmp_path / "added.npy"), "causal", "--set", "length=5"]) == 0
    assert "read as 0 = visible, -inf = hidden" in capsys.readouterr().err
