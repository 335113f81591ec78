"""What a pixel of a map can be, and the character that says so without colour."""

from __future__ import annotations

from enum import IntEnum


class Ink(IntEnum):
    """The meaning of one pixel. Inks from `CURSOR` on are the same states under the cursor."""

    OUTSIDE = 0
    EMPTY = 1
    SHADE_1 = 2
    SHADE_2 = 3
    SHADE_3 = 4
    SHADE_4 = 5
    FULL = 6
    PARTIAL = 7
    MIXED_LOW = 8
    MIXED_HIGH = 9
    LEFT_ONLY = 10
    RIGHT_ONLY = 11
    WRONG = 12
    DIFFERS = 13
    CURSOR_EMPTY = 14
    CURSOR_PART = 15
    CURSOR_FULL = 16
    CURSOR_WRONG = 17


INKS = len(Ink)
"""Inks without the border flag."""

BORDER = 32
"""Added to an ink: this pixel lies on a tile border."""

SHADE_STEPS = (0.225, 0.45, 0.71)
"""Shares at which the next shade begins. They lie between simple fractions: regular masks show 1/2, 1/3, 1/4 ... of the
cells of every pixel but for one or two at its edge, and are an even grey as long as no step lies at such a share."""

UNICODE_GLYPHS: dict[Ink, str] = {
    Ink.OUTSIDE: " ",
    Ink.EMPTY: "·",
    Ink.SHADE_1: "░",
    Ink.SHADE_2: "░",
    Ink.SHADE_3: "▒",
    Ink.SHADE_4: "▓",
    Ink.FULL: "█",
    Ink.PARTIAL: "▒",
    Ink.MIXED_LOW: "░",
    Ink.MIXED_HIGH: "▓",
    Ink.LEFT_ONLY: "<",
    Ink.RIGHT_ONLY: ">",
    Ink.WRONG: "X",
    Ink.DIFFERS: "≠",
    Ink.CURSOR_EMPTY: "○",
    Ink.CURSOR_PART: "◐",
    Ink.CURSOR_FULL: "●",
    Ink.CURSOR_WRONG: "⊗",
}

GLYPHS_IN_COLOUR: dict[int, str] = {Ink.WRONG: "X", Ink.CURSOR_WRONG: "⊗"}
"""Marks that look like a share of cells to some eyes, or to some terminals, and so are named by a character too."""

ASCII_GLYPHS: dict[Ink, str] = {
    Ink.OUTSIDE: " ",
    Ink.EMPTY: ".",
    Ink.SHADE_1: "-",
    Ink.SHADE_2: "-",
    Ink.SHADE_3: "+",
    Ink.SHADE_4: "*",
    Ink.FULL: "#",
    Ink.PARTIAL: "+",
    Ink.MIXED_LOW: "-",
    Ink.MIXED_HIGH: "*",
    Ink.LEFT_ONLY: "<",
    Ink.RIGHT_ONLY: ">",
    Ink.WRONG: "X",
    Ink.DIFFERS: "!",
    Ink.CURSOR_EMPTY: "o",
    Ink.CURSOR_PART: "%",
    Ink.CURSOR_FULL: "@",
    Ink.CURSOR_WRONG: "?",
}
