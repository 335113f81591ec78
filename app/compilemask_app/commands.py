"""The command palette: every action of the table, and every mask of the library."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.dom import DOMNode

from compilemask import library
from compilemask_app.actions import Action, Scope, commands
from compilemask_app.drawing.palette import PALETTES
from compilemask_app.keys import readable_keys
from compilemask_app.screens.design import DesignScreen

TARGETS = (("sm_80", "sm_90", "sm_100"), ("sm_80",), ("sm_90",), ("sm_100",), ("sm_120",))


PLACES = {Scope.EDITOR: "#editor", Scope.MATRIX: "#matrix", Scope.PARAMETERS: "#parameters"}
"""The widgets that have actions of their own."""

HEADINGS = {Scope.MAP: "Map", Scope.EDITOR: "Text", Scope.MATRIX: "Regions", Scope.PARAMETERS: "Sizes"}


class ActionCommands(Provider):
    """The actions that make sense from anywhere on the screen below."""

    async def discover(self) -> Hits:
        """All of them, when nothing is typed yet."""
        for action in self._actions():
            yield DiscoveryHit(_label(action), partial(self._run, action), help=action.help)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Those whose title or help match."""
        matcher = self.matcher(query)
        for action in self._actions():
            label = _label(action)
            score = max(matcher.match(label), matcher.match(action.help) * 0.9)
            if score > 0:
                yield Hit(score, matcher.highlight(label), partial(self._run, action), help=action.help)

    def _actions(self) -> list[Action]:
        scope = getattr(self.screen, "scope", None)
        return commands(scope) if isinstance(scope, Scope) else []

    async def _run(self, action: Action) -> None:
        if not self.screen.is_attached:  # closed since the command was chosen
            return
        namespace = self._place(action.scope)
        if action.call in ("help", "quit_safely"):
            await self.app.run_action(action.call)
        else:
            await self.app.run_action(action.call, namespace)

    def _place(self, scope: Scope) -> DOMNode:
        """The part of the screen whose action it is."""
        if scope is Scope.MAP:
            maps = [view for view in self.screen.query("MapView") if view.display]
            return next((view for view in maps if view is self.screen.focused), maps[0])
        widget = PLACES.get(scope)
        return self.screen.query_one(widget) if widget else self.screen


class MaskCommands(Provider):
    """`open NAME` for every mask of the library."""

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Masks whose name matches."""
        matcher = self.matcher(query)
        if not isinstance(self.screen, DesignScreen):
            return
        for name in library.names():
            label = f"open {name}"
            score = matcher.match(label)
            if score > 0:
                yield Hit(score, matcher.highlight(label), partial(self._open, name), help=library.header(name).idea)

    async def _open(self, name: str) -> None:
        if isinstance(self.screen, DesignScreen):
            self.screen.open_named(name)


class SettingCommands(Provider):
    """How maps look, and what compile and time work with; kept for the next time."""

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Settings whose words match."""
        matcher = self.matcher(query)
        for label, help_, run in self._choices():
            score = matcher.match(label)
            if score > 0:
                yield Hit(score, matcher.highlight(label), run, help=help_)

    def _choices(self) -> list[tuple[str, str, Callable[[], None]]]:
        app = self.app
        if not hasattr(app, "choose"):
            return []
        found: list[tuple[str, str, Callable[[], None]]] = [
            (f"palette {name or 'of the theme'}", "Colours of the maps", partial(app.choose, palette=name))
            for name in ("", *PALETTES)
        ]
        found += [
            (f"look {look}", "Maps in colour, in characters, in ASCII", partial(app.choose, look=look))
            for look in ("auto", "colour", "text", "ascii")
        ]
        found += [
            (f"targets {' '.join(targets)}", "GPUs to compile for", partial(app.choose, targets=targets))
            for targets in TARGETS
        ]
        found += [
            (f"head_dim {size}", "Columns of a head, for compile and time", partial(app.choose, head_dim=size))
            for size in (64, 128)
        ]
        return found


def _label(action: Action) -> str:
    """Of a part of the screen with its heading there first, as a title alone would not say what is less or wider."""
    place = HEADINGS.get(action.scope)
    return f"{f'{place}: ' if place else ''}{action.title}  ({readable_keys(action.keys)})"
