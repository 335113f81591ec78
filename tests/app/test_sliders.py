"""Sliders of the parameters: the knob, and the mouse that moves it."""

from __future__ import annotations

import pytest
from compilemask_app.composing import sliders
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.design import DesignScreen
from compilemask_app.widgets.parameter_steppers import NAME_WIDTH, ParameterSteppers
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, text_of
from tests.scenes import design, until

TRACKS = (sliders.SHORT, sliders.LONG)


@given(st.integers(0, 1 << 24), st.sampled_from(TRACKS))
def test_the_knob_stands_on_the_track_and_means_about_its_value(value: int, columns: int) -> None:
    scale = sliders.scale_of(value, columns)
    place = scale.column(value)
    assert 0 <= place < columns
    octaves = scale.top / (columns - 1)
    assert max(1, value) / 2**octaves <= max(1, scale.value(place)) <= max(1, value) * 2**octaves
    assert len(sliders.drawn(value, scale)) == columns + sliders.ENDS


@given(st.integers(0, 1 << 15), st.integers(0, 1 << 15), st.sampled_from(TRACKS))
def test_knobs_of_different_numbers_can_be_compared(one: int, other: int, columns: int) -> None:
    places = [sliders.scale_of(value, columns).column(value) for value in sorted((one, other))]
    assert places == sorted(places)


def test_twice_the_value_is_one_column_further() -> None:
    places = [sliders.scale_of(1 << power, sliders.LONG).column(1 << power) for power in range(16)]
    assert places == list(range(1, 17))
    assert sliders.scale_of(0, sliders.LONG).column(0) == 0


@pytest.mark.parametrize(("column", "value"), [(-5, 0), (0, 0), (1, 1), (9, 256), (16, 1 << 15), (40, 1 << 15)])
def test_columns_past_an_end_mean_the_end(column: int, value: int) -> None:
    assert sliders.scale_of(5, sliders.LONG).value(column) == value


def test_a_larger_value_stands_at_the_right_end_of_a_longer_scale() -> None:
    scale = sliders.scale_of(1 << 20, sliders.SHORT)
    assert scale.column(1 << 20) == sliders.SHORT - 1
    assert scale.value(sliders.SHORT - 1) == 1 << 20


def place(screen: DesignScreen, column: int, line: int = 0) -> tuple[int, int]:
    """The offset of a column of the slider in the widget."""
    steppers = screen.query_one(ParameterSteppers)
    return 1 + NAME_WIDTH + steppers._slider_column() + column, line


def track(screen: DesignScreen) -> int:
    """Columns of the tracks."""
    return screen.query_one(ParameterSteppers)._track()


async def value(pilot: Pilot[None], screen: DesignScreen, words: str) -> None:
    """The text says so, and the maps follow."""
    await until(pilot, lambda: words in text_of(screen))
    await until(pilot, lambda: screen.picture is not None and screen.picture.revision == screen.revision)


class TestMouse:
    """Clicks and drags on the slider."""

    async def test_the_ends_step_and_halve(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.click(ParameterSteppers, offset=place(screen, track(screen) + 1))
            await value(pilot, screen, "prompt = 42")
            await pilot.click(ParameterSteppers, offset=place(screen, 0), shift=True)
            await value(pilot, screen, "prompt = 21")
            assert screen.picture is not None
            assert screen.picture.query_length == 21 + 72

    async def test_a_click_on_the_track_goes_there_and_a_drag_follows(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            scale = sliders.scale_of(40, track(screen))
            begin, end = 1 + scale.column(512), 1 + scale.column(2048)
            await pilot.mouse_down(ParameterSteppers, offset=place(screen, begin))
            await value(pilot, screen, "prompt = 512")
            for column in range(begin + 1, end + 1):
                await pilot.hover(ParameterSteppers, offset=place(screen, column))
            await value(pilot, screen, "prompt = 2048")
            await pilot.mouse_up(ParameterSteppers, offset=place(screen, end))
            await pilot.hover(ParameterSteppers, offset=place(screen, 3))
            assert "prompt = 2048, answers = [24] * 3" in text_of(screen)

    async def test_a_knob_that_is_grabbed_keeps_its_value_until_it_moves_and_finds_it_again(
        self, make_app: MakeApp
    ) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            knob = 1 + sliders.scale_of(40, track(screen)).column(40)
            await pilot.mouse_down(ParameterSteppers, offset=place(screen, knob))
            await pilot.pause(0.1)
            assert text_of(screen) == TWO
            await pilot.hover(ParameterSteppers, offset=place(screen, knob + 1))
            await until(pilot, lambda: text_of(screen) != TWO)
            await pilot.hover(ParameterSteppers, offset=place(screen, knob))
            await value(pilot, screen, "prompt = 40,")
            await pilot.mouse_up(ParameterSteppers, offset=place(screen, knob))
            assert text_of(screen) == TWO

    async def test_quick_steps_add_up(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            steppers = screen.query_one(ParameterSteppers)
            for _ in range(4):
                steppers.action_scale(1)
            await value(pilot, screen, "prompt = 640, answers")
