"""The application: settings, themes, worker and screens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.filter import Monochrome
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider

from compilemask_app import settings as settings_store
from compilemask_app.actions import ACTIONS, Scope, bindings
from compilemask_app.commands import ActionCommands, MaskCommands, SettingCommands
from compilemask_app.document import Document
from compilemask_app.drawing.palette import PALETTES
from compilemask_app.ending import end_on_signals, exit_code
from compilemask_app.framework import Palette, mend_lists, mend_wrapping
from compilemask_app.screens.design import DesignScreen
from compilemask_app.services import Services
from compilemask_app.themes import THEMES, palette_for
from compilemask_app.type_ahead import KeyHandled, TypeAhead
from compilemask_app.widgets.map_view import Look, MapView

if TYPE_CHECKING:
    import signal

    from textual.notifications import Notify, SeverityLevel

    from compilemask.measure.report import TimingReport
    from compilemask.worker_protocol import Hello
    from compilemask_app.jobs.worker_client import WorkerClient
    from compilemask_app.screens.dialogs import Dialog

Answer = TypeVar("Answer")
MOST_NOTICES = 3
"""So many stand on the screen at once."""


class Workbench(App[None]):
    """Shows one document on the design screen; other screens lie over it."""

    TITLE = "CompileMask"
    NOTIFICATION_TIMEOUT = 4
    CSS_PATH = "application.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.EVERYWHERE)
    COMMANDS: ClassVar[set[Any]] = {SystemCommandsProvider, ActionCommands, MaskCommands, SettingCommands}

    def __init__(self, document: Document, services: Services | None = None) -> None:
        self.services = services or Services()
        super().__init__()
        self.settings, self._complaints = settings_store.load(self.services.settings_file, self._choices())
        mend_lists()
        mend_wrapping()
        if self.no_color:
            self._send_no_colour()
        self.worker_hello: Hello | None = None
        self._document = document
        self._typing = TypeAhead(self, super().on_event)
        self._asking = 0
        self._leaving = False

    def _choices(self) -> dict[str, tuple[str, ...]]:
        """What a setting may be, where that is a name."""
        return {
            "theme": (*(theme.name for theme in THEMES), *self.available_themes),
            "palette": ("", *PALETTES),
            "look": ("auto", *(look.value for look in Look)),
        }

    def _send_no_colour(self) -> None:
        """The framework's own way under `NO_COLOR` is greys, which are colours too."""
        from compilemask_app.no_colour import NoColour

        self._filters[:] = [*(one for one in self._filters if not isinstance(one, Monochrome)), NoColour()]

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self.settings.theme
        self.set_keymap(dict(self.settings.keys))
        self.theme_changed_signal.subscribe(self, lambda _: self._theme_changed())
        self.push_screen(DesignScreen(self._document))
        if not self.is_headless:
            end_on_signals(self._end_from_outside, self._keep_text)
        if self._complaints:
            told = "\n".join((str(self.services.settings_file), *self._complaints, "The defaults are used for these."))
            self.notify(told, title="Settings", severity="warning", timeout=15, markup=False)

    async def on_event(self, event: events.Event) -> None:
        """Keys wait for what the keys before them open."""
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            await self._typing.take(event)
        else:
            await super().on_event(event)

    def on_key_handled(self, message: KeyHandled) -> None:
        """A key has come as far as it goes."""
        message.arrived.set()

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Words as they are: a size like `[answers] * 2` is no markup, but in the framework's own notice."""
        markup = markup and title == "Screenshot"
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def refuse(self, why: str) -> None:
        """Say why a key opens nothing; letters that were typed for what it should have opened are no commands."""
        self.notify(why, severity="warning")
        self._typing.swallow()

    def on_notify(self, event: Notify) -> None:
        """Before a notice is shown: the same one goes, whose time begins anew, and of many the oldest."""
        new, shown = event.notification, list(self._notifications)
        alike = [one for one in shown if (one.title, one.message) == (new.title, new.message)]
        others = [one for one in shown if one not in alike]
        for one in (*alike, *others[: max(0, len(others) - MOST_NOTICES + 1)]):
            self._unnotify(one)

    async def on_unmount(self) -> None:
        if "worker" in self.__dict__:
            await self.worker.close()

    def _end_from_outside(self, by: signal.Signals) -> None:
        """Without a question, as nobody may be there to answer it."""
        unsaved = self.design is not None and self.design.files.unsaved
        self._keep_text()
        message = (
            f"ended by {by.name}; what was not saved comes back when the mask is opened again" if unsaved else None
        )
        self.exit(return_code=exit_code(by), message=message if by.name != "SIGHUP" else None)

    def _keep_text(self) -> None:
        if self.design is not None:
            self.design.files.keep_at_the_end()

    @cached_property
    def worker(self) -> WorkerClient:
        """The measuring process; nothing is started before it is first asked."""
        from compilemask_app.jobs.worker_client import WorkerClient

        return WorkerClient(self._from_worker, self.services.worker)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The framework's own commands but those for which there is an action here, which the palette shows too."""
        return (command for command in super().get_system_commands(screen) if command.title not in ("Keys", "Quit"))

    async def action_quit(self) -> None:
        """Never leave without asking about unsaved text, whoever asks."""
        self.action_quit_safely()

    # ------------------------------------------------------------ looks

    @property
    def palette_name(self) -> str:
        """The palette of all maps."""
        return self.settings.palette or palette_for(self.current_theme)

    @property
    def look(self) -> Look:
        """How maps draw pixels: as set, else by what the terminal can do."""
        if self.settings.look != "auto":
            return Look(self.settings.look)
        system = self.console.color_system
        return Look.COLOUR if not self.no_color and system in ("truecolor", "256", None) else Look.TEXT

    def _theme_changed(self) -> None:
        self.choose(theme=self.theme)

    def choose(self, **changes: Any) -> None:
        """Take a choice for good: settings that change how maps look are seen at once."""
        self.change_settings(**changes)
        for screen in self.screen_stack:
            for view in screen.query("MapView"):
                if isinstance(view, MapView):
                    view.palette, view.look = self.palette_name, self.look

    def change_settings(self, **changes: Any) -> None:
        """Keep a choice for the next time too."""
        changed = replace(self.settings, **changes)
        if changed != self.settings:
            self.settings = changed
            settings_store.store(changed, self.services.settings_file, changes)

    def remember_opened(self, path: Path) -> None:
        """Put a file at the top of the recent ones."""
        self.change_settings(recent=self.settings.opened(path.resolve()).recent)

    def remember_times(self, report: TimingReport, text: str) -> None:
        """Keep times for later runs; `text` tells the texts of the mask apart."""
        from datetime import datetime

        from compilemask_app import history

        try:
            history.add(self.services.history_file, history.rows_of(report, datetime.now(), text))
        except history.HistoryError as error:
            self.notify(f"times not kept: {error}", severity="warning")

    # ------------------------------------------------------------ worker and actions

    def _from_worker(self, message: Any) -> None:
        design = self.design
        if design is not None:
            design.post_message(message)

    async def ask(self, dialog: Dialog[Answer], *, over: bool = False) -> Answer | None:
        """The answer of a dialog. One at a time, however fast keys follow each other; `over` another if need be."""
        if self._asking and not over:
            return None
        self._asking += 1
        try:
            return await self.push_screen_wait(dialog)
        finally:
            self._asking -= 1

    @property
    def design(self) -> DesignScreen | None:
        """The design screen, wherever it lies in the stack."""
        return next((screen for screen in self.screen_stack if isinstance(screen, DesignScreen)), None)

    def action_help_quit(self) -> None:
        """For keys that quit elsewhere: say which one does here."""
        from compilemask_app.keys import readable_keys

        quit_keys = dict(self.settings.keys).get("quit") or next(item.keys for item in ACTIONS if item.id == "quit")
        self.notify(f"{readable_keys(quit_keys)} quits")

    def action_help(self) -> None:
        from compilemask_app.screens.help_screen import HelpScreen, places_of

        if not isinstance(self.screen, (HelpScreen, CommandPalette)):
            self.push_screen(HelpScreen(places_of(self.focused or self.screen)))

    @work(group="files")
    async def action_quit_safely(self) -> None:
        if self._leaving:
            return
        self._leaving = True
        design = self.design
        if design is None or await design.files.may_lose_text(over=True):
            self.exit()
        self._leaving = False

    def action_command_palette(self) -> None:
        if self.use_command_palette and not any(isinstance(one, CommandPalette) for one in self.screen_stack):
            self.push_screen(Palette(id="--command-palette"))
