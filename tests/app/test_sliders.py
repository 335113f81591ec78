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


@given(st.integers(0, 1 << 24))
def test_the_knob_stands_on_the_track_and_means_about_its_value(value: int) -> None:
    top = sliders.top_of(value)
    place = sliders.knob(value, top)
    assert 0 <= place <= sliders.TRACK // 2
    assert abs(sliders.value_at(place + 1, top) - value) <= top / (sliders.TRACK - 1)
    assert len(sliders.drawn(value)) == sliders.WIDTH


@pytest.mark.parametrize(("column", "value"), [(-5, 0), (1, 0), (5, 128), (9, 256), (40, 256)])
def test_columns_past_an_end_mean_the_end(column: int, value: int) -> None:
    assert sliders.value_at(column, 256) == value


def place(screen: DesignScreen, column: int, line: int = 0) -> tuple[int, int]:
    """The offset of a column of the slider in the widget."""
    steppers = screen.query_one(ParameterSteppers)
    return 1 + NAME_WIDTH + steppers._slider_column() + column, line


async def value(pilot: Pilot[None], screen: DesignScreen, words: str) -> None:
    """The text says so, and the maps follow."""
    await until(pilot, lambda: words in text_of(screen))
    await until(pilot, lambda: screen.picture is not None and screen.picture.revision == screen.revision)


class TestMouse:
    """Clicks and drags on the slider."""

    async def test_the_ends_step_and_halve(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.click(ParameterSteppers, offset=place(screen, sliders.WIDTH - 1))
            await value(pilot, screen, "prompt = 42")
            await pilot.click(ParameterSteppers, offset=place(screen, 0), shift=True)
            await value(pilot, screen, "prompt = 21")
            assert screen.picture is not None
            assert screen.picture.query_length == 21 + 72

    async def test_a_click_on_the_track_goes_there_and_a_drag_follows(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.mouse_down(ParameterSteppers, offset=place(screen, 5))
            await value(pilot, screen, "prompt = 64")
            for column in (6, 7, 9):
                await pilot.hover(ParameterSteppers, offset=place(screen, column))
            await value(pilot, screen, "prompt = 128")
            await pilot.mouse_up(ParameterSteppers, offset=place(screen, 9))
            await pilot.hover(ParameterSteppers, offset=place(screen, 3))
            assert "prompt = 128, answers = [24] * 3" in text_of(screen)

    async def test_quick_steps_add_up(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            steppers = screen.query_one(ParameterSteppers)
            for _ in range(4):
                steppers.action_scale(1)
            await value(pilot, screen, "prompt = 640, answers")
