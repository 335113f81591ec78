"""Values typed for sizes and parameters: names complete, and what the compiler refuses is not written."""

from __future__ import annotations

from functools import partial

import pytest
from compilemask_app.composing.entry import Entry
from compilemask_app.composing.text_edits import replacing
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.dialogs import Prompt
from textual.pilot import Pilot
from textual.widgets import Input, Static

from compilemask.source import Source, Span
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, answered, burst, dialog, said, text_of
from tests.scenes import design, until


def entry(text: str = TWO) -> Entry:
    """The size of `answer`."""
    line = next(place for place, words in enumerate(text.splitlines(), 1) if words.startswith("    answer : "))
    span = Span(Source("test", text), line, 14, line, 21)
    return Entry(text, lambda typed: (replacing(span, typed.strip()),))


@pytest.mark.parametrize(
    ("typed", "words"),
    [("", ("answers", "prompt")), ("2 * pr", ("prompt",)), ("[answers", ()), ("le", ("len",)), ("12", ())],
)
def test_names_of_values_and_functions_complete(typed: str, words: tuple[str, ...]) -> None:
    assert entry().completed(typed)[: len(words) or None] == words


@pytest.mark.parametrize("typed", ["16", "prompt", "[prompt // 2] * 3", "answers", "grid(4, 6)", "0"])
def test_what_the_compiler_takes_is_no_problem(typed: str) -> None:
    assert entry().problem(typed) is None


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("-3", "negative"),
        ("prompt - 50", "40 - 50 = -10"),
        ("promt", "did you mean `prompt`"),
        ("16 stored by at", "`stored` makes no sense here"),
        ("16 # words", "nothing behind it"),
        ("[3, 4", "never closed"),
        ("", "a value"),
        ("causal", "causal"),
    ],
)
def test_what_it_refuses_is_said_in_its_words(typed: str, words: str) -> None:
    assert words in (entry().problem(typed) or "")


def test_what_was_wrong_before_is_no_problem_of_the_value() -> None:
    broken = TWO.replace("answer sees prompt", "answr sees prompt")
    assert entry(broken).problem("[8] * 2") is None
    assert "negative" in (entry(broken).problem("-1") or "negative")


class TestPrompts:
    """In the workbench."""

    async def test_a_refused_size_stays_in_its_line(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "s")
            for typed, words in (
                ("promt * 2", "did you mean `prompt`"),
                ("-4", "negative"),
                ("8, b = 9", "nothing behind"),
            ):
                await answered(pilot, typed)
                await until(pilot, partial(_says, pilot, words))
                assert pilot.app.screen.query_one(Input).value == typed
                assert text_of(screen) == TWO
            await answered(pilot, "prompt * 2")
            await until(pilot, lambda: "    prompt : prompt * 2\n" in text_of(screen))

    async def test_tab_completes_a_parameter(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "down", "s")
            await dialog(pilot, Prompt)
            await pilot.press("p", "r")
            assert str(pilot.app.screen.query_one("#words", Static).content).split() == ["tab", "prompt"]
            await pilot.press("tab", "asterisk", "2", "enter")
            await until(pilot, lambda: "    answer : prompt*2\n" in text_of(screen))
            burst(pilot, "plus", "'draft : pro", "tab", "enter")
            await until(pilot, lambda: "    draft : prompt\n" in text_of(screen))

    async def test_a_parameter_is_tried_too(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("a", "enter")
            await answered(pilot, "0 - 7")
            await until(pilot, lambda: "negative" in said(pilot))
            await answered(pilot, "7, other = 4")
            await until(pilot, lambda: "nothing behind" in said(pilot))
            assert text_of(screen) == TWO
            await answered(pilot, "70")
            await until(pilot, lambda: "param prompt = 70, answers" in text_of(screen))
            await pilot.press("minus")
            burst(pilot, "'9", "backspace", "'-9", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, Prompt) and "negative" in said(pilot))


def _says(pilot: Pilot[None], words: str) -> bool:
    return words in said(pilot)
