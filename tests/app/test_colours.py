"""What terminals of few colours are sent, and that no state of a map is told by its hue alone."""

from __future__ import annotations

import io
import re
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from compilemask_app.drawing.ink import GLYPHS_IN_COLOUR, Ink
from compilemask_app.drawing.palette import PALETTES, Palette
from compilemask_app.drawing.strips import half_block_rows
from rich.color import Color, ColorSystem

from tests.app.terminal import Terminal
from tests.app.test_whole import environment

STYLE = re.compile(r"\x1b\[([0-9;:]*)m")
KINDS = {
    "truecolor": re.compile(r"[34]8;2;"),
    "256": re.compile(r"[34]8;5;"),
    "16": re.compile(r"(?<![0-9;])(3[0-7]|4[0-7]|9[0-7]|10[0-7])(?![0-9])|;(3[0-7]|4[0-7]|9[0-7]|10[0-7])(;|$)"),
}


def kind(style: str) -> str:
    """Of which kind the colours of one escape sequence are."""
    return next((name for name, pattern in KINDS.items() if pattern.search(style)), "none")


@pytest.mark.parametrize(
    ("term", "colorterm", "sent"),
    [
        ("xterm-256color", "truecolor", "truecolor"),
        ("xterm-256color", "", "256"),
        ("xterm-16color", "", "16"),
        ("xterm", "", "16"),
    ],
)
def test_a_terminal_is_sent_the_colours_that_it_knows(tmp_path: Path, term: str, colorterm: str, sent: str) -> None:
    command = [sys.executable, "-m", "compilemask_app", "shared_prompt_rm"]
    variables = environment(tmp_path) | {"TERM": term, "COLORTERM": colorterm}
    written = io.StringIO()
    with Terminal(command, variables, str(tmp_path), 40, 120) as terminal:
        terminal.child.logfile_read = written
        terminal.wait("compiled in")
        terminal.send("\r")
        terminal.wait("single cells")
        terminal.send("e")
        terminal.wait("esc Map")
        terminal.send("wrong ")
        terminal.wait("the text has errors")
        shaded = "█" in terminal.text
    kinds = {kind(style) for style in STYLE.findall(written.getvalue())}
    assert kinds == {sent, "none"}
    assert shaded is (sent == "16"), "few colours: maps in characters"


VISIBLE_STEP = 7.0
"""Least difference of CIELAB lightness, of 100, between states that stand side by side."""

STEP_OF_256 = 3.0
"""The same where a terminal rounds colours to its 256."""

EYES = {
    "all cones": np.eye(3),
    "no long": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "no middle": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "no short": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}
"""What is seen of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1."""

TOGETHER = {
    "mask": (Ink.EMPTY, Ink.SHADE_1, Ink.SHADE_2, Ink.SHADE_3, Ink.SHADE_4, Ink.FULL),
    "tiles": (Ink.EMPTY, Ink.MIXED_LOW, Ink.PARTIAL, Ink.MIXED_HIGH, Ink.FULL),
    "difference": (Ink.EMPTY, Ink.LEFT_ONLY, Ink.RIGHT_ONLY, Ink.DIFFERS),
    "cursor on nothing": (Ink.EMPTY, Ink.CURSOR_EMPTY),
    "cursor on a part": (Ink.SHADE_3, Ink.CURSOR_PART),
    "cursor on all": (Ink.FULL, Ink.CURSOR_FULL),
}
"""Inks that have to be told apart."""


def lightness(colour: tuple[int, int, int], eyes: str) -> float:
    """CIELAB lightness of an sRGB colour as it is seen."""
    share = np.array(colour) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = float(np.clip(EYES[eyes] @ linear, 0, 1) @ np.array([0.2126, 0.7152, 0.0722]))
    return 116 * np.cbrt(luminance) - 16 if luminance > 0.008856 else 903.3 * luminance


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
@pytest.mark.parametrize("place", TOGETHER)
def test_states_differ_in_lightness_for_all_eyes(palette: Palette, eyes: str, place: str) -> None:
    for one, other in combinations(TOGETHER[place], 2):
        apart = abs(lightness(palette.colour(one), eyes) - lightness(palette.colour(other), eyes))
        assert apart >= VISIBLE_STEP, (one.name, other.name, apart)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
@pytest.mark.parametrize("place", TOGETHER)
def test_states_differ_in_256_colours(palette: Palette, place: str) -> None:
    def shown(ink: Ink) -> float:
        near = Color.from_rgb(*palette.colour(ink)).downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
        return lightness((near.red, near.green, near.blue), "all cones")

    for one, other in combinations(TOGETHER[place], 2):
        assert abs(shown(one) - shown(other)) >= STEP_OF_256, (one.name, other.name)


@pytest.mark.parametrize("ink", GLYPHS_IN_COLOUR)
@pytest.mark.parametrize("palette", PALETTES)
def test_a_wrong_cell_has_a_character_that_can_be_read(palette: str, ink: Ink) -> None:
    (segment,) = half_block_rows(np.full((2, 3), ink, dtype=np.uint8), palette)[0]
    assert segment.text == 3 * GLYPHS_IN_COLOUR[ink]
    assert segment.style is not None
    assert segment.style.color is not None
    assert segment.style.bgcolor is not None
    on, under = segment.style.color.get_truecolor(), segment.style.bgcolor.get_truecolor()
    apart = lightness((on.red, on.green, on.blue), "all cones") - lightness(
        (under.red, under.green, under.blue), "all cones"
    )
    assert abs(apart) > 35
