"""Binding: parameters, samples, heads, layouts and includes."""

import json
from pathlib import Path

import numpy as np
import pytest

from compilemask.errors import MaskFileError
from compilemask.language import bind, meaning, parse
from compilemask.language.program import Both, Causal, Window
from compilemask.source import Source
from tests.language.binding import batch_of, bound, bound_in, cells, dense, one, picture, refused, told, warned

EXAMPLES = Path(__file__).parent / "examples"


def test_values_of_every_kind_are_taken() -> None:
    text = one("window(behind=n, ahead=0) and wide", "len(ids)", "param n = 0, ids = [0], wide = true\n")

    for ids in ([1, 2, 3], (1, 2, 3), np.array([1, 2, 3], np.int32), np.array([True, False, True])):
        assert bound(text, ids=ids, n=np.int64(1)).query_length == 3
    assert bound(text, ids=np.zeros((2, 5), np.uint8)).query_length == 2
    assert cells(text, ids=[1, 2], wide=False) == ".. .."


class Tensor:
    """What a tensor of torch offers, without torch."""

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return self

    def numpy(self) -> np.ndarray:
        return np.array([2, 2])


def test_tensors_are_copied() -> None:
    assert (
        bound("param sizes\nlayout\n    part : sizes\nrules\n    part sees part : all\n", sizes=Tensor()).key_length
        == 4
    )


@pytest.mark.parametrize(
    "value",
    [1.5, [1, 2.5], {"a": 1}, 2**63, np.array([1.0]), np.array(["a"]), object(), np.array([2**64 - 1], np.uint64)],
)
def test_other_values_are_refused_in_words(value: object) -> None:
    assert refused(one("all", "n", "param n = 1\n"), n=value) == ["parameter-value"]


def test_an_unknown_parameter_names_the_nearest() -> None:
    assert "did you mean `length`?" in told(one("all", "length", "param length = 1\n"), lenght=3)


def test_defaults_use_other_parameters() -> None:
    text = one("all", "b", "param a = 2, b = 3 * a\n")

    assert bound(text).key_length == 6
    assert bound(text, a=3).key_length == 9
    assert refused(one("all", "a", "param a = b, b = a\n")) == ["parameter-circle"]


def test_values_per_sample_and_head() -> None:
    text = one(
        "window(behind=n[head] + m, ahead=0)", "3", "param n per batch = [[0, 1], [1, 2]], m per head = [0, 0]\n"
    )
    program = bound(text)

    assert (program.batch, program.heads) == (2, 2)
    assert picture(dense(program, 0, 0)) == "#.. .#. ..#"
    assert picture(dense(program, 0, 1)) == picture(dense(program, 1, 0)) == "#.. ##. .##"
    assert picture(dense(program, 1, 1)) == "#.. ##. ###"


def test_equal_samples_and_heads_share_one_variant() -> None:
    program = bound("param n per batch = [1, 2, 1]\nheads 4\n" + one("window(behind=n, ahead=0)"))

    assert len(program.variants) == 2
    assert program.variant == ((0, 0, 0, 0), (1, 1, 1, 1), (0, 0, 0, 0))
    by_head = bound("heads 4\n" + one("causal if head % 2 == 0 else all"))
    assert by_head.variant == ((0, 1, 0, 1),)


def test_any_parameter_may_differ_per_sample() -> None:
    text = (
        "param a = [1], n = 1\nlayout\n    part : a\n    padding : 6 - sum(a)\nrules\n    part sees part : same part\n"
    )
    program = batch_of(text, [{"a": [2, 1]}, {"a": [3]}])

    assert picture(dense(program, 0)) == "##.... ##.... ..#... ...... ...... ......"
    assert picture(dense(program, 1)) == "###... ###... ###... ...... ...... ......"


def test_samples_must_have_equal_lengths() -> None:
    message = told("param n per batch = [3, 4]\n" + one("all", "n"))

    assert "sample 0 has 3 queries, sample 1 has 4" in message
    assert "padding" in message


def test_lengths_of_per_batch_values_must_agree() -> None:
    assert refused("param a per batch = [1, 2], b per batch = [1, 2, 3]\n" + one("all", "a + b")) == ["lengths-differ"]
    program = bound("param a per batch = [1, 2], b per batch = [3]\n" + one("window(behind=a, ahead=b)"))
    assert program.batch == 2


def test_padding_is_outside_of_every_rule() -> None:
    text = (
        "layout\n    padding : 1\n    a repeat 2\n        b : 1\n        padding : 1\n"
        "rules\n    everything sees everything : all\n"
    )

    assert cells(text) == "..... .#.#. ..... .#.#. ....."


def test_nested_regions_count_within_their_parents() -> None:
    text = (
        "layout\n    group repeat 2\n        a : [1, 2]\n        padding : 1\n        b : 1\n        a : 1\n"
        "rules\n    everything sees everything : all\n"
    )
    axis = bound(text).variants[0].keys
    numbers = [axis.path_of(slot)[-1] if axis.path_of(slot) else None for slot in range(axis.length)]

    first = [("a", 0, 0), ("a", 1, 0), ("a", 1, 1), None, ("b", 0, 0), ("a", 2, 0)]
    assert numbers == first + first
    assert [axis.path_of(slot)[0][1:] for slot in (0, 2, 4, 11)] == [(0, 0), (0, 2), (0, 3), (1, 4)]


def test_stored_by_changes_the_slots_and_not_the_mask() -> None:
    text = "layout\n    image : grid(2, 4){}\nrules\n    image sees image : same (x // 2)\n"
    written, stored = bound(text.format("")), bound(text.format(" stored by (x // 2, y)"))
    order = stored.variants[0].keys.written

    assert order is not None
    assert order.tolist() == [0, 1, 4, 5, 2, 3, 6, 7]
    assert (dense(stored) == dense(written)[np.ix_(order, order)]).all()


def test_includes_run_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "base.mask").write_text(
        'title "base"\nparam n = 2\nlayout\n    token : n\nrules\n    token sees token : all\n'
    )
    text = 'title "mine"\ninclude "base.mask"\nparam n = 3\nrules\n    token cannot see token : self\n'
    program = bound_in(tmp_path, text)

    assert program.title == "mine"
    assert picture(dense(program)) == ".## #.# ##."
    assert [rule.number for rule in program.variants[0].rules.rules] == [1, 2]


def test_data_comes_from_files(tmp_path: Path) -> None:
    (tmp_path / "sizes.json").write_text(json.dumps([1, 2]))
    np.save(tmp_path / "ids.npy", np.array([[0, 1], [2, 3]], np.int16))
    text = (
        'param sizes from "sizes.json", ids from "ids.npy"\nlayout\n    part : sizes\n'
        "rules\n    part sees part : q.part == ids[0][1]\n"
    )

    assert picture(dense(bound_in(tmp_path, text))) == "... ### ###"


def test_binding_again_with_other_values() -> None:
    file = parse(Source("t.mask", one("causal by rank", "len(ranks)", "param ranks = [0]\nlet rank = ranks[index]\n")))

    for ranks in ([0, 1], [1, 0], [2, 0, 1]):
        mask = meaning.dense(bind(file, {"ranks": ranks}))
        assert (mask == (np.array(ranks)[None, :] <= np.array(ranks)[:, None])).all()


def test_a_torus() -> None:
    text = "layout\n    image : grid(5)\nrules\n    image sees image : (q.x - k.x) % 5 <= 1 or (k.x - q.x) % 5 <= 1\n"

    assert cells(text) == "##..# ###.. .###. ..### #..##"


def test_let_arguments_are_read_where_they_are_used() -> None:
    text = "let near(n) = causal and window(behind=n, ahead=0)\nlet twice(n) = near(2 * n)\n"

    assert cells(one("twice(1)", "4", text)) == "#... ##.. ###. .###"
    by = "let inside(c) = same c and causal\n"
    assert (
        cells("layout\n    part : [2, 2]\n" + by + "rules\n    part sees part : inside(part)\n")
        == "#... ##.. ..#. ..##"
    )


def test_by_reaches_every_relation_inside() -> None:
    program = bound(one("(causal and window(behind=1, ahead=any)) by block", "6", "let block = pos // 2\n"))
    how = program.variants[0].rules.rules[0].how

    assert isinstance(how, Both)
    assert [type(part) for part in how.parts] == [Causal, Window]
    assert picture(dense(program)) == "##.... ##.... ####.. ####.. ..#### ..####"


def test_what_is_never_used_is_warned_of() -> None:
    assert warned("param a = 1\nlet b = pos\n" + one("all")) == ["unused-parameter", "unused-let"]


def test_errors_of_independent_lines_come_together() -> None:
    text = "param a = 1\nlayout\n    one : -a\n    two : nothing\nrules\n    one sees two : all\n"
    assert refused(text) == ["negative-size", "unknown-name"]
    rules = "layout\n    a : 2\nrules\n    b sees c : d\n    a sees a : e\n"
    assert refused(rules) == ["unknown-region", "unknown-region", "unknown-name", "unknown-name"]


def test_an_error_in_one_place_does_not_cascade() -> None:
    text = one("window(behind=broken + 1, ahead=broken)", "4", "param broken = 1 // 0\n")

    assert refused(text) == ["evaluation"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.mask")), ids=lambda path: path.stem)
def test_examples_bind_without_a_warning(path: Path) -> None:
    program = bind(parse(Source(path.name, path.read_text())), folder=EXAMPLES)

    assert program.diagnostics == ()


def test_a_file_without_a_folder_may_name_no_file() -> None:
    with pytest.raises(MaskFileError, match="does not lie in a file"):
        bound('include "base.mask"\n' + one("all"))


def test_unknown_names_are_found_in_rules_that_do_not_run() -> None:
    text = "param on = false, n = 2\n" + one("all") + "rules when on\n    {} sees token : {}\n"

    assert refused(text.format("tokens", "all")) == ["unknown-region"]
    assert refused(text.format("token", "casual")) == ["unknown-name"]
    assert refused(text.format("token", "all if n == 2 else window(behind=1)")) == ["missing-argument"]
    assert refused(text.format("token[7]", "window(behind=n - 3, ahead=0)")) == []


def test_equal_heads_stay_shared_where_a_rule_that_does_not_run_asks_for_the_head() -> None:
    text = (
        "param on = false\nheads 3\n"
        + one("all")
        + "rules when on\n    token sees token : random(count=1, seed=head) by pos\n"
    )

    assert bound(text).variant == ((0, 0, 0),)


def test_more_than_there_is() -> None:
    assert warned("layout\n    token : 2\nrules\n    first 3 of token sees token : all\n") == ["longer-than-all"]


def test_a_let_may_stand_in_its_own_argument() -> None:
    text = "let twice(n) = 2 * n\n"

    assert cells(one("q.pos == twice(twice(1)) - 2", "4", text)) == ".... .... #### ...."


def test_samples_may_bring_the_values_that_are_declared_per_batch() -> None:
    for default in ("", " = [0, 1, 2]"):
        text = f"param left per batch{default}, right per batch = [1]\n" + one("window(behind=left, ahead=right)", "3")
        program = batch_of(text, [{"left": 0}, {"left": 2, "right": 0}])

        assert picture(dense(program, 0)) == "##. .## ..#"
        assert picture(dense(program, 1)) == "#.. ##. ###"


def test_per_head_values_may_differ_per_sample() -> None:
    text = "param reach per head\n" + one("window(behind=reach, ahead=0)", "3")
    program = batch_of(text, [{"reach": [0, 1]}, {"reach": [2, 0]}])

    assert (program.batch, program.heads) == (2, 2)
    assert picture(dense(program, 0, 1)) == "#.. ##. .##"
    assert picture(dense(program, 1, 0)) == "#.. ##. ###"
