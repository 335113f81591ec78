"""The parameters of the mask: each number can be stepped, with the maps following."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from compilemask_app.actions import Scope, bindings
from compilemask_app.composing.text_edits import TextEdit

if TYPE_CHECKING:
    from compilemask_app.composing.parameters import Number, ParameterLine, ParameterList

MOST_LINES = 6
NAME_WIDTH = 12


class ParameterSteppers(Widget, can_focus=True):
    """One line per parameter; up and down choose a number, left and right change it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.PARAMETERS)
    DEFAULT_CSS = "ParameterSteppers { height: auto; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    parameters: reactive[ParameterList | None] = reactive(None)
    chosen: reactive[int] = reactive(0)

    class Changed(Message):
        """The text shall be changed so."""

        def __init__(self, edit: TextEdit) -> None:
            super().__init__()
            self.edit = edit

    class Type(Message):
        """The value of a parameter shall be typed."""

        def __init__(self, parameter: int) -> None:
            super().__init__()
            self.parameter = parameter

    @property
    def lines(self) -> tuple[ParameterLine, ...]:
        """The parameters."""
        return self.parameters.lines if self.parameters else ()

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers in them."""
        return self.parameters.numbers if self.parameters else ()

    def watch_parameters(self, old: ParameterList | None, new: ParameterList | None) -> None:
        """Keep the choice inside; another number of lines needs other room."""
        if (len(old.lines) if old else 0) != len(self.lines):
            self.refresh(layout=True)
        self.chosen = min(self.chosen, max(0, len(self.numbers) - 1))

    def render(self) -> Text:
        """Names and values, the chosen number marked."""
        if not self.lines:
            return Text("no parameters", style="dim")
        colours = self.app.theme_variables
        top = self._top()
        text = Text()
        for place in range(top, min(len(self.lines), top + MOST_LINES)):
            line = self.lines[place]
            if place > top:
                text.append("\n")
            text.append(line.name[: NAME_WIDTH - 1].ljust(NAME_WIDTH), style=colours.get("secondary", ""))
            begin = len(text)
            text.append(line.text, style="dim" if line.default is None else "")
            self._mark(text, place, begin)
        return text

    def _mark(self, text: Text, place: int, begin: int) -> None:
        colours = self.app.theme_variables
        for number, item in enumerate(self.numbers):
            default = self.lines[place].default
            if item.parameter != place or default is None or item.literal.span.line != default.span.line:
                continue
            left = begin + item.literal.span.column - default.span.column
            right = left + item.literal.span.end_column - item.literal.span.column
            style = colours.get("accent", "")
            if number == self.chosen and self.has_focus:
                style = f"bold {colours.get('background', '')} on {colours.get('primary', '')}"
            text.stylize(style, left, right)

    def _top(self) -> int:
        if not self.numbers:
            return 0
        return max(0, self.numbers[self.chosen].parameter - MOST_LINES + 1)

    # ------------------------------------------------------------ keys and mouse

    def key_up(self) -> None:
        """The number before."""
        self.chosen = max(0, self.chosen - 1)

    def key_down(self) -> None:
        """The number after."""
        self.chosen = min(max(0, len(self.numbers) - 1), self.chosen + 1)

    def key_enter(self) -> None:
        """Type the whole value."""
        if self.numbers:
            self.post_message(self.Type(self.numbers[self.chosen].parameter))

    def action_step(self, direction: int) -> None:
        from compilemask_app.composing.parameters import stepped

        if self.numbers:
            self.post_message(self.Changed(stepped(self.numbers[self.chosen], direction)))

    def action_scale(self, direction: int) -> None:
        from compilemask_app.composing.parameters import scaled

        if self.numbers:
            self.post_message(self.Changed(scaled(self.numbers[self.chosen], direction)))

    def on_click(self, event: events.Click) -> None:
        """Choose the number that is clicked, or the first of its line; twice types the value."""
        place = self._top() + event.y
        x = event.x - 1 - NAME_WIDTH
        of_line = [n for n, item in enumerate(self.numbers) if item.parameter == place]
        default = self.lines[place].default if place < len(self.lines) else None
        if default is not None and of_line:
            column = default.span.column
            hit = [n for n in of_line if self.numbers[n].literal.span.end_column - column > x]
            self.chosen = (hit or of_line)[0]
        if event.chain == 2 and default is not None:
            self.post_message(self.Type(place))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel steps too, once the steppers have the keys."""
        if self.has_focus:
            event.stop()
            self.action_step(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel steps too, once the steppers have the keys."""
        if self.has_focus:
            event.stop()
            self.action_step(-1)
