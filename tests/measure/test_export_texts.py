"""Whatever a mask, a title or a file is called: the Python that is exported is the fixed code and literals."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compilemask.errors import UsageError
from compilemask.language.builder import Mask, every, lit, r
from compilemask.language.builder_program import python_program
from compilemask.language.parser import parse
from compilemask.measure.export import figure, flex_module, snippets
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.pipeline import compile as compile_mask
from compilemask.pipeline.compiling import compile_program
from compilemask.source import Source

TEXT = "param n = 3\nlayout\n    a : n\nrules\n    a sees a : causal\n"
PLAIN = compile_text(TEXT, name="plain")
WORDS = st.text(st.characters(), max_size=30) | st.text(st.sampled_from("\"'\\\n{}%$#ax("), max_size=30)
BAD = ('a""" + __import__("os").system("true") + """b', "C:\\Users\\x", "{0}{mask}", "\N{GRINNING FACE}\ud800\r\u2028")


def named(title: str, name: str = "m.mask") -> CompiledMask:
    return compile_program(dataclasses.replace(PLAIN.program, title=title, name=name))


def shape(text: str) -> str:
    """The tree of a program, with every text in it replaced."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


@given(WORDS, WORDS)
@example("", BAD[0])
@example(BAD[0], "")
@example(BAD[1], BAD[1])
@example(BAD[2], BAD[2])
@example(BAD[3], BAD[3])
@settings(max_examples=60, deadline=None)
def test_a_flex_module_of_any_title_and_name_is_the_same_code(title: str, name: str) -> None:
    text = flex_module.flex_module(named(title, name))

    assert shape(text) == shape(flex_module.flex_module(PLAIN))
    text.encode("utf-8")


@given(WORDS)
@example(BAD[0])
@example(BAD[3])
@settings(max_examples=60, deadline=None)
def test_a_snippet_of_any_mask_and_value_says_just_that(name: str) -> None:
    text = snippets.python_snippet(PLAIN, name, {"n": 3, "word": name, "words": [name] * 5})

    assert shape(text) == shape(snippets.python_snippet(PLAIN, "m", {"n": 3, "word": "w", "words": ["w"] * 5}))
    call = ast.parse(text).body[1]
    assert isinstance(call, ast.Assign)
    assert isinstance(call.value, ast.Call)
    assert ast.literal_eval(call.value.args[0]) == name
    text.encode("utf-8")


def test_a_snippet_does_without_an_include_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "sizes.mask").write_text("param n = 3\n")
    (tmp_path / "m.mask").write_text('include "sizes.mask"\n' + TEXT.split("\n", 1)[1])
    mask = compile_mask(tmp_path / "m.mask")
    assert 'cm.compile("m.mask", n=3)' in snippets.python_snippet(mask, "m.mask", {}, tmp_path)
    (tmp_path / "sizes.mask").unlink()

    assert 'cm.compile("m.mask")' in snippets.python_snippet(mask, "m.mask", {}, tmp_path)


@pytest.mark.parametrize("name", ["mask", "params", "samples", "lambda", "None", "True"])
def test_a_parameter_of_any_name_reaches_the_mask(name: str, tmp_path: Path) -> None:
    file = tmp_path / "m.mask"
    file.write_text(TEXT.replace("n", name, 1).replace("a : n", f"a : {name}"), encoding="utf-8")
    text = snippets.python_snippet(compile_mask(file, params={name: 4}), str(file), {name: 4})
    names: dict[str, Any] = {}

    exec(text.partition("# q")[0], names)

    assert names["mask"].query_length == 4


def test_other_names_stay_keywords() -> None:
    text = snippets.python_snippet(PLAIN, "m", {"n": 4, "samples": [1, 2], "more": [8] * 6})

    assert 'cm.compile("m", params={"samples": [1, 2]}, n=4, more=[8] * 6)' in text


@pytest.mark.parametrize("wrong", [{"samples": 4}, {"samples": "n"}, {"samples": {"n": 3}}, {"params": 4}])
def test_arguments_of_compile_that_are_no_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"a parameter that is called .* goes into params"):
        compile_mask("causal", **wrong)
    with pytest.raises(UsageError, match="goes into params"):
        compile_text(TEXT, **wrong)


def test_a_figure_takes_dollars_as_they_are(tmp_path: Path) -> None:
    figure.write(named(r"$\frac$ of $"), tmp_path / "m.svg")

    assert (tmp_path / "m.svg").read_bytes().startswith(b"<?xml")


@given(WORDS)
@example(BAD[0])
@settings(max_examples=60, deadline=None)
def test_a_program_that_builds_a_mask_holds_its_texts_as_literals(text: str) -> None:
    clean = "".join(letter if letter.isprintable() and letter != '"' else "_" for letter in text)

    def program(word: str) -> str:
        lines = f'# {word}\ntitle "{word}"\nparam n = 3  # {word}\nrequire n > 0, "{word}"\n'
        return python_program(parse(Source("m", lines + "layout\n    a : n\nrules\n    a sees a : all\n")))

    assert shape(program(clean)) == shape(program("word"))


@pytest.mark.parametrize("text", ['a"b', "a\nrules", "a\x00", "\u2028"])
def test_a_text_that_no_mask_file_can_hold_is_refused_where_it_is_said(text: str) -> None:
    mask = Mask()
    for say in (mask.title, mask.include, lit, lambda word: mask.require(True, word)):
        with pytest.raises(UsageError, match=r"can't stand in a mask: a text holds no"):
            say(text)
    with pytest.raises(UsageError, match="a text holds no"):
        mask.param("n", file=text)


def test_a_comment_of_several_lines_stays_a_comment() -> None:
    mask = Mask()
    mask.comment("one\nrules")
    with mask.layout() as layout:
        layout.region("a", 3)
        mask.remark("two\n    b : 4")
    with mask.rules() as rules:
        rules.sees(r.a, r.a, every)

    assert compile_mask(mask).query_length == 3
