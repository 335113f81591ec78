"""The parameters of the mask: each number can be stepped, with the maps following."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from compilemask_app.actions import Scope, bindings
from compilemask_app.composing import sliders
from compilemask_app.composing.sliders import Scale
from compilemask_app.composing.text_edits import TextEdit

if TYPE_CHECKING:
    from compilemask_app.composing.parameters import Number, ParameterLine, ParameterList

MOST_LINES = 6
NAME_WIDTH = 12


@dataclass(frozen=True, slots=True)
class Drag:
    """The slider that the mouse holds: of which number, on which scale, and where it was grabbed.

    Back at the column where it was grabbed, the knob means the value that it had there.
    """

    number: int
    scale: Scale
    column: int
    value: int

    def value_at(self, column: int) -> int:
        """The value of a column of the track."""
        return self.value if column == self.column else self.scale.value(column)


class ParameterSteppers(Widget, can_focus=True):
    """One line per parameter; up and down choose a number, left and right change it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.PARAMETERS)
    DEFAULT_CSS = "ParameterSteppers { height: auto; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    parameters: reactive[ParameterList | None] = reactive(None)
    chosen: reactive[int] = reactive(0)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._drag: Drag | None = None

    class Changed(Message):
        """A number shall be changed so; the edit is made from the text of the time at which it is carried out."""

        def __init__(self, number: int, change: Callable[[Number], TextEdit]) -> None:
            super().__init__()
            self.number, self.change = number, change

    class Type(Message):
        """The value of a parameter shall be typed."""

        def __init__(self, parameter: int) -> None:
            super().__init__()
            self.parameter = parameter

    class Rename(Message):
        """A parameter shall have another name."""

        def __init__(self, parameter: int) -> None:
            super().__init__()
            self.parameter = parameter

    class Begin(Message):
        """The number at a place shall be typed, and begins with a digit."""

        def __init__(self, number: int, digit: str) -> None:
            super().__init__()
            self.number, self.digit = number, digit

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
            self._append_slider(text, place, len(text) - begin)
        return text

    def _append_slider(self, text: Text, place: int, used: int) -> None:
        number = self._number_of(place)
        if number is None or used > self._slider_column():
            return
        value = self.numbers[number].value
        style = self.app.theme_variables.get("accent" if number == self.chosen and self.has_focus else "secondary", "")
        held = self._drag.scale if self._drag and self._drag.number == number else None
        track = sliders.drawn(value, held or sliders.scale_of(value, self._track()))
        text.append(" " * (self._slider_column() - used)).append(track, style=style)

    def _slider_column(self) -> int:
        """Columns between the name and the slider, which stands at the right end."""
        return self.content_size.width - NAME_WIDTH - sliders.ENDS - self._track()

    def _track(self) -> int:
        """Columns of all tracks: long where no value would lose its slider by that."""
        room = self.content_size.width - NAME_WIDTH - sliders.ENDS
        texts = [len(line.text) for line in self.lines if len(line.text) <= room - sliders.SHORT]
        return sliders.LONG if max(texts, default=0) <= room - sliders.LONG else sliders.SHORT

    def _number_of(self, place: int) -> int | None:
        """The number that the slider of a line is for: the chosen one, else the first."""
        here = [n for n, item in enumerate(self.numbers) if item.parameter == place]
        found = self.chosen if self.chosen in here else here[0] if here else None
        return found if found is not None and not isinstance(self.numbers[found].value, bool) else None

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

    def action_type_value(self) -> None:
        if self.numbers:
            self.post_message(self.Type(self.numbers[self.chosen].parameter))

    def action_rename(self) -> None:
        if self.numbers:
            self.post_message(self.Rename(self.numbers[self.chosen].parameter))

    def on_key(self, event: events.Key) -> None:
        """A digit begins another value of the number."""
        if self.numbers and event.character and event.character in "0123456789":
            event.stop()
            self.post_message(self.Begin(self.chosen, event.character))

    def action_step(self, direction: int) -> None:
        from compilemask_app.composing.parameters import stepped

        if self.numbers:
            self.post_message(self.Changed(self.chosen, partial(stepped, direction=direction)))

    def action_scale(self, direction: int) -> None:
        from compilemask_app.composing.parameters import scaled

        if self.numbers:
            self.post_message(self.Changed(self.chosen, partial(scaled, direction=direction)))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Grab the slider, or step with its ends."""
        place, x = self._top() + event.y, event.x - 1 - NAME_WIDTH - self._slider_column()
        number = self._number_of(place) if place < len(self.lines) else None
        track = self._track()
        if event.button != 1 or number is None or not self._has_slider(place) or not 0 <= x < track + sliders.ENDS:
            return
        event.stop()
        self.chosen = number
        if x in (0, track + 1):
            (self.action_scale if event.shift else self.action_step)(1 if x else -1)
            return
        value = self.numbers[number].value
        scale = sliders.scale_of(value, track)
        self._drag = Drag(number, scale, scale.column(value), value)
        self.capture_mouse()
        if not event.shift:
            self._slide(int(x) - 1)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The value follows; with shift one step for each column."""
        if self._drag is None:
            return
        event.stop()
        if event.shift:
            for _ in range(abs(event.delta_x)):
                self.action_step(1 if event.delta_x > 0 else -1)
        else:
            self._slide(int(event.x - 1 - NAME_WIDTH - self._slider_column()) - 1)

    def on_mouse_up(self) -> None:
        """Let go: the slider takes the scale of the new value."""
        if self._drag is not None:
            self._drag = None
            self.release_mouse()
            self.refresh()

    def _slide(self, column: int) -> None:
        from compilemask_app.composing.parameters import set_to

        if self._drag is not None:
            change = partial(set_to, value=self._drag.value_at(column))
            self.post_message(self.Changed(self._drag.number, change))

    def _has_slider(self, place: int) -> bool:
        return len(self.lines[place].text) <= self._slider_column()

    def on_click(self, event: events.Click) -> None:
        """Choose the number that is clicked, or the first of its line; twice types the value."""
        place = self._top() + event.y
        x = event.x - 1 - NAME_WIDTH
        if place < len(self.lines) and x >= self._slider_column() and self._has_slider(place):
            return
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
