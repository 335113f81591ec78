"""What the decided points of the language mean, each on a mask small enough to read."""

import numpy as np
import pytest

from compilemask.errors import MaskFileError
from compilemask.language import meaning
from compilemask.language.meaning_relations import splitmix64
from compilemask.language.program import Limit, Rule
from compilemask.pipeline import compile_text
from tests.language.binding import bound, cells, dense, one, picture, refused, told, warned

PACKED = "layout\n    group repeat 2\n        part : [1, 1]\nrules\n    part sees part : {}\n"
GROUPS = "#... .#.. ..#. ...#"


def test_plain_numbers_compare_inside_common_parents_in_every_comparison() -> None:
    assert cells(PACKED.format("q.part == k.part")) == GROUPS
    assert cells(PACKED.format("q.part != k.part")) == ".#.. #... ...# ..#."
    assert cells(PACKED.format("q.part > k.part")) == ".... #... .... ..#."
    assert cells(PACKED.format("causal by part")) == "#... ##.. ..#. ..##"
    assert cells(PACKED.format("window(behind=0, ahead=1) by part")) == "##.. .#.. ..## ...#"


def test_arithmetic_on_numbers_crosses_parents_and_warns() -> None:
    crossing = PACKED.format("q.part - k.part == 1")

    assert cells(crossing) == ".... #.#. .... #.#."
    assert warned(crossing) == ["numbers-across-parents"]
    assert warned(PACKED.format("(q.part - k.part == 1) within group")) == []
    assert warned(PACKED.format("same group and q.part - k.part == 1")) == []


def test_equal_numbers_of_regions_without_a_common_parent_are_the_same() -> None:
    text = "layout\n    noisy : 4\n    clean : 4\nlet block = at // 2\nrules\n    noisy sees clean : same block\n"

    assert picture(dense(bound(text))[:4, 4:]) == "##.. ##.. ..## ..##"


def test_an_index_that_depends_on_a_token_never_counts_from_the_end() -> None:
    table = "param table = [0, 1, 2]\n"

    assert cells(one("k.pos == table[-1]", "3", table)) == "..# ..# ..#"
    assert "the index is -1" in told(one("k.pos == [0, 1, 2][q.pos - 1]", "3")).replace(
        "index -1 is", "the index is -1"
    )
    assert refused(one("k.pos == table[q.pos - 1]", "3", table)) == ["evaluation"]


def test_a_tuple_is_found_in_a_list_of_lists() -> None:
    edges = "param edges = [[0, 1], [2, 0]]\n"

    assert cells(one("(q.pos, k.pos) in edges", "3", edges)) == ".#. ... #.."
    assert cells(one("(q.pos, k.pos) not in edges", "3", edges)) == "#.# ### .##"


def test_what_any_can_do() -> None:
    before = "param reach = any, list = [any, 1]\n"

    assert cells(one("window(behind=reach + 1, ahead=0)", "3", before)) == "#.. ##. ###"
    assert cells(one("window(behind=min(reach, 1), ahead=0)", "3", before)) == "#.. ##. .##"
    assert cells(one("q.pos < reach", "2", before)) == "## ##"
    assert cells(one("window(behind=list[q.pos % 2], ahead=0)", "4", before)) == "#... ##.. ###. ..##"
    for wrong in ("reach // 2", "reach * 2", "-reach", "1 - reach", "reach % 2"):
        assert refused(one(f"window(behind={wrong}, ahead=0)", "3", before)) in (["evaluation"], ["not-a-number"])


def test_an_instance_out_of_range_is_an_error_and_a_range_is_clipped() -> None:
    text = "layout\n    part : [1, 1, 1]\nrules\n    {} sees part : all\n"

    assert cells(text.format("part[-1]")) == "... ... ###"
    assert refused(text.format("part[3]")) == ["no-such-instance"]
    assert refused(text.format("part[-4]")) == ["no-such-instance"]
    assert cells(text.format("part[1:9]")) == "... ### ###"
    assert cells(text.format("part[-2:]")) == "... ### ###"
    assert warned(text.format("part[3:]")) == ["selects-nothing"]


def test_an_instance_chosen_by_a_coordinate_may_be_none() -> None:
    text = (
        "param best = [1, -1]\nlayout\n    group repeat 2\n        part : [1, 1]\n"
        "rules\n    part[best[group]] sees part : same group\n"
    )

    assert cells(text) == ".... ##.. .... ...."


def test_numbers_from_the_end_count_in_every_parent() -> None:
    text = (
        "param sizes = [[1, 1, 1], [1]]\nlayout\n    group repeat 2\n        part : sizes[group]\n"
        "rules\n    part[-1] sees part : self\n"
    )

    assert cells(text) == ".... .... ..#. ...#"


def test_same_of_a_condition_matches_two_false_ones() -> None:
    text = one("same mark", "3", "let mark = pos > 1\n")

    assert cells(text) == "##. ##. ..#"
    assert warned(text) == ["same-of-condition"]


def test_not_same_is_true_and_unequal_is_false_where_the_coordinate_is_absent() -> None:
    text = "layout\n    text : 1\n    image : grid(2)\nrules\n    everything sees everything : {}\n"

    assert cells(text.format("not same x")) == "### #.# ##."
    assert cells(text.format("q.x != k.x")) == "... ..# .#."
    assert warned(text.format("not same x")) == ["not-same-of-absent"]


def test_first_of_a_nested_region_takes_tokens_of_every_instance() -> None:
    text = "layout\n    group repeat 2\n        part : [2, 1]\nrules\n    {} sees part : self\n"

    assert cells(text.format("first 1 of group.part")) == "#..... ...... ..#... ...#.. ...... .....#"
    assert warned(text.format("first 1 of group.part")) == ["first-counts-tokens"]
    assert warned(text.format("first 1 of (group.part)")) == []
    assert cells(text.format("first 1 of group")) == "#..... ...... ...... ...#.. ...... ......"
    assert refused(text.format("first 1 of (part where at > 0)")) == ["first-of-where"]


def test_where_filters_the_last_part_only() -> None:
    text = "layout\n    a : 2\n    b : 2\nrules\n    {} sees a : all\n"

    assert cells(text.format("a, b where at > 0")) == "##.. ##.. .... ##.."
    assert warned(text.format("a, b where at > 0")) == ["where-filters-last"]
    assert warned(text.format("a, (b where at > 0)")) == []
    assert cells(text.format("(a, b) where at > 0")) == ".... ##.. .... ##.."


def test_lists_of_slots_warn_where_positions_are_shifted() -> None:
    text = (
        "queries\n    new : 2\nkeys\n    old : 4\nalign end\nrules\n    new sees old : rectangles([[0, 1, 0, 2]]){}\n"
    )

    assert cells(text.format("")) == "##.. ...."
    assert warned(text.format("")) == ["slots-and-positions"]
    assert cells(text.format(" by pos")) == ".... ...."
    assert warned(text.format(" by index")) == []


def test_intervals_have_one_entry_per_slot_padding_included() -> None:
    text = "layout\n    padding : 1\n    token : 2\nrules\n    token sees token : intervals({})\n"

    assert cells(text.format("[[], [[1, 2]], [[1, 2], [2, 3]]]")) == "... .#. .##"
    assert refused(text.format("[[[1, 2]], [[1, 3]]]")) == ["interval-count"]


def test_a_file_that_only_hides_is_warned_of() -> None:
    assert warned("layout\n    token : 2\nrules\n    limit : causal\n") == ["only-limits"]
    assert warned("layout\n    token : 2\n") == ["no-rules"]


def test_rectangles_may_be_cut_by_diagonals() -> None:
    rows = "[[0, 4, 0, 4, -1, 0], [0, 1, 0, 4, 2, any]]"

    assert cells(one(f"rectangles({rows})")) == "#.## ##.. .##. ..##"


def test_count_and_find() -> None:
    before = (
        "param starts = [0, 2, 3], order = [2, 0, 3, 1]\nlet span = count(starts, pos)\nlet place = find(order, pos)\n"
    )

    assert cells(one("same span", "4", before)) == "##.. ##.. ..#. ...#"
    assert cells(one("causal by place", "4", before)) == "#.#. #### ..#. #.##"
    assert cells(one("q.pos == find([1, 7], 7)", "2")) == ".. ##"


def test_find_of_something_that_is_not_there_is_absent() -> None:
    assert cells(one("find([2, 0], q.pos) >= 0", "3")) == "### ... ###"
    assert refused(one("all", "find([2, 0], 1)")) == ["evaluation"]


def test_cumsum_over_tokens_counts_the_token_itself_and_no_padding() -> None:
    text = (
        "layout\n    token : 2\n    padding : 1\n    token : 2\nlet total = cumsum(at + 1)\n"
        "rules\n    token sees token : q.total == 4\n"
    )

    assert cells(text) == "..... ..... ..... ##.## ....."


def test_cumsum_of_a_condition_counts_where_it_holds() -> None:
    before = "let chunk = cumsum(pos % 3 == 0)\n"

    assert cells(one("same chunk", "5", before)) == "###.. ###.. ###.. ...## ...##"


def test_cumsum_counts_tokens_that_do_not_ask() -> None:
    text = (
        "layout\n    token : 5\nqueries are token where pos % 2 == 0\nlet chunk = cumsum(pos % 3 == 0)\n"
        "rules\n    token sees token : same chunk\n"
    )

    assert cells(text) == "###.. ###.. ...##"
    assert picture(compile_text(text, name="t").dense()) == cells(text)


def test_list_arithmetic() -> None:
    assert cells(one("all", "([1, 2] * 2 + range(3))[1:3]")) == "### ### ###"
    assert cells(one("q.pos not in [1] + [2]", "3")) == "### ... ..."
    assert refused(one("all", "[1] - 1")) == ["evaluation"]


def test_set_valued_coordinates() -> None:
    before = "param sets = [[0], [], [0, 2]]\nlet set = sets[index]\n"

    assert cells(one("q.pos in k.set", "3", before)) == "#.# ... ..#"
    assert cells(one("k.pos in q.set", "3", before)) == "#.. ... #.#"


def test_everything_counts_real_tokens_of_the_axis() -> None:
    text = (
        "layout\n    padding : 1\n    token : [1, 2]\n"
        "rules\n    token sees token : q.everything.at == everything_size - 1\n"
    )
    text = text.replace("everything_size", "k.everything.size")

    assert cells(text) == ".... .... .... .###"


def test_align_follows_the_positions_of_the_keys() -> None:
    text = (
        "param kept = [0, 3, 4, 9]\nqueries\n    new : 2\nkeys\n    cache : 4\nposition keys = kept[index]\n"
        "align end\n"
        "rules\n    new sees cache : causal\n"
    )

    assert cells(text) == "###. ####"


def test_align_within_matches_instances_by_number() -> None:
    text = (
        "param asked = [1, 2, 1], kept = [2, 3, 0]\nqueries\n    document : asked\nkeys\n    document : kept\n"
        "align end within document\nrules\n    document sees document : causal\n"
    )

    assert cells(text) == "##... ####. ##### ....."


def test_align_start_and_end_ignore_padding() -> None:
    text = (
        "queries\n    padding : 1\n    new : 2\nkeys\n    old : 4\n    padding : 2\nalign {}\n"
        "rules\n    everything sees everything : causal\n"
    )

    assert cells(text.format("end")) == "...... ###... ####.."
    assert cells(text.format("start")) == "...... #..... ##...."


def test_none_is_any() -> None:
    text = one("window(behind=reach, ahead=0)", "3", "param reach = 0\n")

    assert cells(text, reach=None) == "#.. ##. ###"
    assert refused(one("all", "n", "param n = 1\n"), n=None) == ["size-not-a-number"]


def test_a_window_below_zero_says_how_it_came_about() -> None:
    text = one("window(behind=size - 1, ahead=0)", "3", "param size = 0\n")

    assert "size - 1 = 0 - 1 = -1" in told(text)
    text = one("window(behind=len(a) - sum(a), ahead=0)", "3", "param a = [2, 5]\n")
    assert "len(a) - sum(a) = 2 - 7 = -5" in told(text)


def test_a_requirement_that_fails_says_its_values() -> None:
    text = one("all", "3", "param a = [2, 5], room = 6\nrequire sum(a) <= room\n")

    assert "here 7 <= 6, with room = 6" in told(text)


def test_a_number_is_no_condition_and_a_condition_no_number() -> None:
    flag = "param flag = 1\n"

    assert "compare it, for instance with `== 1`" in told(one("flag", "3", flag))
    assert refused(one("all if flag else none", "3", flag)) == ["how-is-a-number"]
    assert refused(one("q.pos == (q.pos > 1)", "3")) == ["kinds-differ"]


def test_morton_and_hilbert_are_coordinates() -> None:
    grid = "layout\n    image : grid(2, 2)\nlet place = {}(y, x)\nrules\n    image sees image : causal by place\n"

    assert cells(grid.format("morton")) == "#... ##.. ###. ####"
    assert [cells(grid.format("hilbert")).split()[i].count("#") for i in range(4)] in ([1, 2, 4, 3], [1, 4, 2, 3])


def test_queries_are_some_of_the_keys() -> None:
    text = (
        "layout\n    document : [3, 2]\nqueries are last 1 of document\n"
        "rules\n    document sees document : causal within document\n"
    )
    program = bound(text)

    assert (program.query_length, program.key_length) == (2, 5)
    assert picture(dense(program)) == "###.. ...##"


def test_a_box_takes_lists_and_any() -> None:
    grid = "layout\n    image : grid(3, 3)\nrules\n    image sees image : box({})\n"

    assert cells(grid.format("any, 1, edge=cut")) == cells(grid.format("[any, 1], edge=[shift, cut]"))
    assert cells(grid.format("any, 1, edge=cut")).split()[0] == "#..#..#.."
    assert cells(grid.format("1, 3, edge=[cut, shift]")).split()[0] == "###......"
    assert cells(grid.format("1, 2, edge=cut, lean=[behind, ahead]")).split()[1] == ".##......"


def test_a_causal_box_never_looks_ahead() -> None:
    grid = "layout\n    token : grid(6)\nrules\n    token sees token : box({}, edge=shift, causal=true{})\n"

    assert cells(grid.format("any", "")) == "#..... ##.... ###... ####.. #####. ######"
    assert cells(grid.format("2", "")) == "#..... ##.... .##... ..##.. ...##. ....##"
    assert cells(grid.format("3", ", stride=2")) == "#..... ##.... .##... .###.. ...##. ...###"


def test_the_extent_of_a_box_is_that_of_the_keys_own_instance() -> None:
    text = "layout\n    image : [grid(3), grid(6)]\nrules\n    image sees image : box(3, edge=shift) within image\n"

    assert picture(dense(bound(text))[3:, 3:]) == "###... ###... .###.. ..###. ...### ...###"


def test_a_part_that_counts_instances_takes_its_extent_over_all_of_them() -> None:
    text = "layout\n    frame : [2, 2, 2]\nrules\n    frame sees frame : box(1, 3, edge=shift) by (at, frame)\n"

    assert cells(text) == "#.#.#. .#.#.# #.#.#. .#.#.# #.#.#. .#.#.#"


def test_a_condition_on_one_token_guards_what_stands_behind_it() -> None:
    before = "param parents = [-1, 0, 1]\n"

    assert cells(one("q.pos > 0 and parents[q.pos] == k.pos", "3", before)) == "... #.. .#."
    assert refused(one("parents[parents[q.pos]] == k.pos and q.pos > 0", "3", before)) == ["evaluation"]
    assert refused(one("causal and parents[k.pos + 1] == 0", "3", before)) == ["evaluation"]


def test_only_selected_tokens_are_evaluated() -> None:
    text = "param list = [5, 6]\nlayout\n    a : 2\n    b : 1\nrules\n    a sees b : list[q.pos] == 6\n"

    assert cells(text) == "... ..# ..."


def test_random_draws_from_the_values_of_the_keys() -> None:
    text = one("random(count=2, seed=seed) by block", "12", "param seed = 1\nlet block = pos // 3\n")
    mask = dense(bound(text))

    assert (mask.sum(axis=1) == 6).all()
    assert (mask == dense(bound(text))).all()
    assert any((mask != dense(bound(text, seed=seed))).any() for seed in range(2, 6))


def test_splitmix64_gives_the_published_numbers() -> None:
    # The first outputs of the reference generator for seed 1234567 (states advance by the golden gamma).
    gamma = 0x9E3779B97F4A7C15

    assert splitmix64(1234567) == 6457827717110365317
    assert splitmix64((1234567 + gamma) % 2**64) == 3203168211198807973


def test_integers_have_64_bits() -> None:
    assert refused(one("all", "9_223_372_036_854_775_807 + 1")) == ["evaluation"]
    assert refused(one("q.pos * 9_223_372_036_854_775_807 == k.pos", "3")) == ["evaluation"]
    assert cells(one("-7 // 2 == -4 and -7 % 3 == 2 and 7 % -3 == -2", "1")) == "#"


def test_what_decided_a_cell() -> None:
    text = (
        "layout\n    padding : 1\n    token : 3\nrules\n    token sees token : all\n"
        "    token cannot see token : before\n    limit : causal\n"
    )
    program = bound(text)

    assert meaning.deciding_rule(program, 0, 0) == (False, None)
    shown, shower = meaning.deciding_rule(program, 1, 1)
    hidden, hider = meaning.deciding_rule(program, 2, 1)
    cut, limit = meaning.deciding_rule(program, 1, 2)
    assert (shown, hidden, cut) == (True, False, False)
    assert isinstance(shower, Rule)
    assert isinstance(hider, Rule)
    assert isinstance(limit, Limit)
    assert (shower.number, hider.number, limit.number) == (1, 2, 3)


def test_errors_of_a_pair_are_mask_file_errors() -> None:
    program = bound(one("[1, 2][q.pos - k.pos] == 1", "2"))

    with pytest.raises(MaskFileError):
        meaning.visible(program, 0, 1)


def test_lexicographic_tuples() -> None:
    grid = "layout\n    image : grid(2, 2)\nrules\n    image sees image : {} by (x, y)\n"

    assert cells(grid.format("causal")) == "#... ###. #.#. ####"
    assert cells(grid.format("before")) == ".... #.#. #... ###."


def test_empty_axes() -> None:
    assert dense(bound(one("causal", "0"))).shape == (0, 0)
    assert np.array_equal(
        dense(bound("queries\n    a : 2\nkeys\n    b : 0\nrules\n    a sees b : all\n")), np.zeros((2, 0), bool)
    )
