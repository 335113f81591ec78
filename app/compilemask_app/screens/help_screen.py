"""The keys: those of this screen first, then the rest by place, and all of them found by typing a word or a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.dom import DOMNode
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from compilemask_app.actions import ACTIONS, Action, Scope
from compilemask_app.keys import readable_keys
from compilemask_app.screens.dialogs import Dialog

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

THREE_COLUMNS_FROM = 100
"""Columns of the terminal from which keys, title and help of an action stand side by side."""
NARROW_KEYS = 14
NOTE = "tab goes to the next place; `mouse` lists what it does; keys change in the settings file, by the names in ()"
MOUSE = (
    ("click", "a cell of the maps puts the cursor there; a key of the footer presses it; a finding goes to its line"),
    ("twice", "a cell of the matrix chooses its relation, a name renames the region, a parameter types its value"),
    ("drag", "moves the part of the mask that the maps show; the knob of a parameter sets its value"),
    ("wheel", "moves the maps up and down, with shift sideways, with ctrl closer and wider; scrolls text and lists"),
    ("wheel on sizes", "steps the chosen number, once the parameters have the keys"),
    ("^p", "a click on it in the footer lists all commands, so that a mouse alone is enough"),
)


def places_of(focused: DOMNode | None) -> tuple[Scope, ...]:
    """Where the keys are: the scopes of a widget and of what it stands in, from the inside out, everywhere last."""
    scopes = [scope for node in (focused.ancestors_with_self if focused else ()) for scope in _scopes_of(node)]
    return tuple(dict.fromkeys((*scopes, Scope.EVERYWHERE)))


def _scopes_of(node: DOMNode) -> Iterator[Scope]:
    """The scopes whose keys a node takes: those of its own bindings."""
    ids = {binding.id for bindings in node._bindings.key_to_bindings.values() for binding in bindings}
    yield from (action.scope for action in ACTIONS if action.id in ids and action.scope is not Scope.EVERYWHERE)


def matching(typed: str, keys_of: Mapping[str, str]) -> list[Action]:
    """The actions that have a key of this name, then those whose words, or name of their place, hold all that is typed.

    A single character means the key, if there is one. `keys_of` are the readable keys of each action.
    """
    wanted = typed.strip()
    exact = [action for action in ACTIONS if wanted and wanted in keys_of[action.id].split()]
    if exact and len(wanted) == 1:
        return exact
    words = wanted.lower().split()
    others = (action for action in ACTIONS if action not in exact)
    return [*exact, *(action for action in others if all(word in _words(action, keys_of) for word in words))]


def _words(action: Action, keys_of: Mapping[str, str]) -> str:
    return " ".join((keys_of[action.id], action.title, action.help, action.id, action.scope.value)).lower()


def in_a_text(keys: str) -> str:
    """The keys that work where letters are text: the others after escape."""
    names = [key for key in keys.split() if len(key) > 1]
    return " ".join(names) if names else f"esc {keys}"


class HelpScreen(Dialog[None]):
    """All keys from the action table; `here` are the places on the screen below, which stand first."""

    app: Workbench
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "give_up", "Back"),
        Binding("down", "scroll(1)", "Down", priority=True),
        Binding("up", "scroll(-1)", "Up", priority=True),
        Binding("pagedown", "scroll(10)", "Down", priority=True),
        Binding("pageup", "scroll(-10)", "Up", priority=True),
        Binding("home", "edge(-1)", "First", priority=True),
        Binding("end", "edge(1)", "Last", priority=True),
        Binding("tab,enter", "place(1)", "Next place", priority=True),
        Binding("shift+tab", "place(-1)", "Place before", priority=True),
    ]
    DEFAULT_CSS = """
    HelpScreen #columns { height: 1fr; margin-top: 1; }
    HelpScreen #places { width: 20; height: 1fr; border: none; background: $surface; padding: 0; }
    HelpScreen #keys { width: 1fr; height: 1fr; }
    HelpScreen #keys Static { height: auto; margin-bottom: 1; }
    HelpScreen.-narrow #places { display: none; }
    HelpScreen.-low #columns, HelpScreen.-low .title, HelpScreen.-low .note { margin: 0; }
    """

    def __init__(self, here: tuple[Scope, ...] = ()) -> None:
        super().__init__()
        self._here = here
        self.places = (*here, *(scope for scope in Scope if scope not in here))
        self._columns = 0

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("Keys", classes="title")
            yield Input(placeholder="type a word or a key:  zoom   f8   save", compact=True)
            with Horizontal(id="columns"):
                yield OptionList(*(Option(self._named(scope), id=scope.name) for scope in self.places), id="places")
                with VerticalScroll(id="keys", can_focus=False):
                    yield Static(id="mouse")
                    for scope in self.places:
                        yield Static(id=f"keys-{scope.name}")
            yield Static(NOTE, classes="note")

    def on_mount(self) -> None:
        self.query_one("#places", OptionList).can_focus = False
        self._fill()

    def on_resize(self, event: events.Resize) -> None:
        """Other columns for another width."""
        super().on_resize(event)
        if self._columns and event.size.width != self._columns:
            self._fill()

    def _named(self, scope: Scope) -> Text:
        """The name of a place; those of the screen below are marked."""
        return Text(f"{'▸' if scope in self._here else ' '} {scope.value}")

    @property
    def _keys_of(self) -> dict[str, str]:
        changed = dict(self.app.settings.keys)
        keys = {action.id: readable_keys(changed.get(action.id, action.keys)) for action in ACTIONS}
        if self._here[:1] != (Scope.EDITOR,):
            return keys
        outer = [action.id for action in ACTIONS if action.scope in (Scope.DESIGN, Scope.EVERYWHERE)]
        return keys | {name: in_a_text(keys[name]) for name in outer}

    @on(Input.Changed)
    def _fill(self) -> None:
        """What matches, by place."""
        self._columns = self.app.size.width
        keys_of = self._keys_of
        found = matching(self.query_one(Input).value, keys_of)
        for scope in self.places:
            within = [action for action in found if action.scope is scope]
            section = self.query_one(f"#keys-{scope.name}", Static)
            section.display = bool(within)
            section.update(self._section(scope, within, keys_of))
        self.query_one("#keys", VerticalScroll).scroll_home(animate=False)
        mouse = self._fill_mouse()
        told = f"{len(found)} of {len(ACTIONS)}" if found else ("the mouse" if mouse else "none does that")
        self.query_one(".title", Static).update(f"Keys   {told}")

    def _fill_mouse(self) -> bool:
        """What the mouse does, where one asks for it; whether one does."""
        typed = self.query_one(Input).value.strip().lower()
        section = self.query_one("#mouse", Static)
        section.display = len(typed) > 2 and any(word.startswith(typed) for word in ("mouse", "wheel", "drag", "click"))
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(width=NARROW_KEYS)
        table.add_column(ratio=1, overflow="fold")
        for what, does in MOUSE:
            table.add_row(Text(what, style="bold"), does)
        heading = Text("Mouse", style=f"bold {self.app.theme_variables.get('secondary', '')}")
        section.update(Group(heading, table))
        return bool(section.display)

    def _section(self, scope: Scope, actions: list[Action], keys_of: Mapping[str, str]) -> Group:
        """A place with its keys: three columns, or two where those would leave no room for what a key does."""
        wide = self._columns >= THREE_COLUMNS_FROM
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(width=max(map(len, keys_of.values())) if wide else NARROW_KEYS)
        if wide:
            table.add_column(width=max(len(action.title) for action in ACTIONS))
        table.add_column(ratio=1, overflow="fold")
        for action in actions:
            keys, name = Text(keys_of[action.id], style="bold"), (f" ({action.id})", "dim")
            if wide:
                table.add_row(keys, action.title, Text.assemble(action.help, name))
            else:
                table.add_row(keys, Text.assemble(f"{action.title}: {action.help}", name))
        heading = Text(scope.value, style=f"bold {self.app.theme_variables.get('secondary', '')}")
        return Group(heading.append("   this screen" if scope in self._here else "", style="not bold"), table)

    def action_scroll(self, rows: int) -> None:
        for scroll in self._scrolls():
            scroll.scroll_relative(y=rows, animate=False)

    def _scrolls(self) -> list[VerticalScroll]:
        """The part that scrolls, once it is there: keys come before it where one types fast."""
        return list(self.query("#keys").results(VerticalScroll))

    def action_edge(self, direction: int) -> None:
        """The first line, or the last."""
        for scroll in self._scrolls():
            (scroll.scroll_home if direction < 0 else scroll.scroll_end)(animate=False)

    def action_place(self, direction: int) -> None:
        """The next place, or the one before, at the top."""
        if not self._scrolls():
            return
        scroll = self._scrolls()[0]
        shown = [section for section in scroll.query(Static).results(Static) if section.display]
        tops = [section.virtual_region.y for section in shown]
        here = int(scroll.scroll_offset.y)
        after = [place for place, top in enumerate(tops) if (top > here if direction > 0 else top < here)]
        if after:
            self._show(shown[after[0] if direction > 0 else after[-1]])

    def _show(self, section: Static) -> None:
        places = self.query_one("#places", OptionList)
        places.highlighted = places.get_option_index((section.id or "").removeprefix("keys-"))
        self.query_one("#keys", VerticalScroll).scroll_to_widget(section, top=True, animate=False, force=True)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        """A click on a place."""
        event.stop()
        if self.query_one(Input).value:
            self.query_one(Input).value = ""
        self.call_after_refresh(self._show, self.query_one(f"#keys-{event.option_id}", Static))
