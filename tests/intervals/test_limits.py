"""Masks that would take unbounded time or memory are refused in words, before anything large is made."""

from __future__ import annotations

import pytest

from compilemask import MaskFileError, compile_text
from compilemask.language import effort

LAYOUT = "layout\n    token : {n}\nrules\n    token sees token : "


@pytest.mark.parametrize(
    ("relation", "code"),
    [
        ("same (pos % 2)", "too-many-runs"),
        ("rectangles([[0, 100000, 0, 9]] * 1000)", "too-many-runs"),
        ("disc(upto=100000, edge=cut) by (pos // 100, pos % 100)", "too-many-runs"),
        ("random(count=3, seed=1) by index", "per-cell"),
        ("same (sum(range(pos)))", "evaluation"),
        ("q.pos * k.pos % 7 == 1", "per-cell"),
    ],
)
def test_a_hundred_thousand_tokens_do_not_hang(relation: str, code: str) -> None:
    with pytest.raises(MaskFileError) as caught:
        compile_text((LAYOUT + relation + "\n").format(n=100_000))

    assert [found.code for found in caught.value.diagnostics] == [code]
    assert caught.value.diagnostics[0].hint


def test_thousands_of_rules_over_many_tokens_do_not_hang() -> None:
    text = (LAYOUT + "q.pos - k.pos == 0\n").format(n=100_000)
    text += "".join(f"    token sees token : q.pos - k.pos == {distance}\n" for distance in range(1, 3000))
    with pytest.raises(MaskFileError) as caught:
        compile_text(text)

    assert [found.code for found in caught.value.diagnostics] == ["too-many-parts"]


def test_a_chain_of_many_nodes_takes_no_step_a_level() -> None:
    compiled = compile_text(
        "layout\n    node : [1] * 200000\nrules\n    node sees node : path(range(-1, 199999)) by node\n"
    )

    assert compiled.columns_of(0, 0).row(7) == ((7, 200_000),)


def test_conditions_are_evaluated_for_pairs_of_different_tokens_only() -> None:
    compiled = compile_text((LAYOUT + "(q.pos % 3) * (k.pos % 5) == 2\n").format(n=600))

    assert compiled.rows.row(1) == tuple((k, k + 1) for k in range(2, 600, 5))
    assert not [found for found in compiled.diagnostics if found.code == "per-cell"]


def test_every_part_of_a_rule_counts_however_few_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    doubled = "let c0 = same (pos % 7)\n" + "".join(f"let c{i + 1} = c{i} or not c{i}\n" for i in range(8))
    text = doubled + LAYOUT.format(n=9)
    assert compile_text(text + "c3\n").rows.visible == 81

    monkeypatch.setattr(effort, "MOST_STEPS", 150 * effort.A_PLAN)  # c8 has 256 parts, looked at in both forms
    with pytest.raises(MaskFileError) as caught:
        compile_text(text + "c8\n")

    assert [found.code for found in caught.value.diagnostics] == ["too-much-work"]
    assert compile_text(text + "c3\n").rows.visible == 81
