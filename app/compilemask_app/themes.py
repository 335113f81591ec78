"""The workbench's own themes, and which palette and syntax colours go with a theme."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style
from textual.theme import Theme

DARK = Theme(
    name="compilemask-dark",
    primary="#5ca8b8",
    secondary="#8aa4c8",
    accent="#e2a346",
    foreground="#c9d4df",
    background="#0d1117",
    surface="#11161e",
    panel="#18202b",
    success="#7cc08a",
    warning="#e2a346",
    error="#ff6b6b",
    dark=True,
    variables={"footer-key-foreground": "#e2a346", "border": "#2a3644", "border-blurred": "#1d2631"},
)
LIGHT = Theme(
    name="compilemask-light",
    primary="#124268",
    secondary="#34618a",
    accent="#a35f00",
    foreground="#20262c",
    background="#fafaf7",
    surface="#f4f4ef",
    panel="#e9eae6",
    success="#1d6b36",
    warning="#a35f00",
    error="#b00028",
    dark=False,
    variables={"footer-key-foreground": "#a35f00", "border": "#c5c8c2", "border-blurred": "#dcded8"},
)
THEMES = (DARK, LIGHT)


def palette_for(theme: Theme) -> str:
    """The map palette that goes with a theme."""
    return "dusk" if theme.dark else "paper"


@dataclass(frozen=True, slots=True)
class SyntaxStyles:
    """Styles of the words of a mask file."""

    comment: Style
    keyword: Style
    relation: Style
    number: Style
    string: Style
    operator: Style
    error: Style
    warning: Style
    lens_error: Style
    lens_warning: Style


def _styles(colours: tuple[str, ...]) -> SyntaxStyles:
    comment, keyword, relation, number, string, operator, error, warning = colours
    return SyntaxStyles(
        comment=Style(color=comment, italic=True),
        keyword=Style(color=keyword, bold=True),
        relation=Style(color=relation),
        number=Style(color=number),
        string=Style(color=string),
        operator=Style(color=operator),
        error=Style(color=error, underline=True, bold=True),
        warning=Style(color=warning, underline=True),
        lens_error=Style(color=error, italic=True),
        lens_warning=Style(color=warning, italic=True),
    )


DARK_SYNTAX = _styles(
    ("#66788a", "#7fc4d4", "#e2a346", "#c8b6e8", "#a5c98b", "#8b9bab", "#ff6b6b", "#e2a346"),
)
LIGHT_SYNTAX = _styles(
    ("#7a838b", "#124268", "#8a4b00", "#5b3a8c", "#2d6a2d", "#59636c", "#b00028", "#8a4b00"),
)


def syntax_for(dark: bool) -> SyntaxStyles:
    """Syntax colours for a dark or light ground."""
    return DARK_SYNTAX if dark else LIGHT_SYNTAX
