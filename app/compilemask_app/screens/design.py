"""The design screen: its keys, each of which goes to the part that knows how."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.widgets import OptionList

from compilemask.job import Job
from compilemask_app.actions import Scope, bindings
from compilemask_app.messages import FindWanted, OverlayWanted
from compilemask_app.picture import Choice
from compilemask_app.screens.design_core import DesignCore
from compilemask_app.widgets.diagnostics_panel import DiagnosticsPanel
from compilemask_app.widgets.map_pair import MapPair
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import Overlay
from compilemask_app.widgets.parameter_steppers import ParameterSteppers
from compilemask_app.widgets.region_matrix_view import RegionMatrixView

TILE_SIZES = ((128, 128), (128, 64), (64, 64), (64, 128), (256, 128))


class DesignScreen(DesignCore):
    """Text, maps, figures and jobs of one mask."""

    scope: ClassVar[Scope] = Scope.DESIGN
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.DESIGN)

    # ------------------------------------------------------------ jobs

    @work(group="jobs")
    async def action_run_job(self, job: str) -> None:
        await self.jobs.start(Job(job))

    @work(group="jobs")
    async def action_cancel_job(self) -> None:
        await self.jobs.cancel()

    # ------------------------------------------------------------ focus

    def action_focus_editor(self) -> None:
        self.add_class("-writing")
        self.call_after_refresh(self.query_one(MaskEditor).focus)

    def action_focus_map(self) -> None:
        self.app.clear_notifications()
        self._focus_map()

    def _focus_map(self) -> None:
        self.remove_class("-writing")
        views = [pane for pane in self.query_one(MapPair).panes if pane.display]
        if views:
            self.call_after_refresh(views[0].focus)

    def action_swap_maps(self) -> None:
        self.query_one(MapPair).swap()
        self.call_after_refresh(self._focus_map)

    def action_focus_matrix(self) -> None:
        self.add_class("-writing")
        self.call_after_refresh(self.query_one(RegionMatrixView).focus)

    def action_focus_parameters(self) -> None:
        self.add_class("-writing")
        self.call_after_refresh(self.query_one(ParameterSteppers).focus)

    @on(DiagnosticsPanel.GoTo)
    def _go_to_text(self, message: DiagnosticsPanel.GoTo) -> None:
        self.show_line(message.line, message.column)

    @on(ParameterSteppers.Changed)
    def _parameter_changed(self, message: ParameterSteppers.Changed) -> None:
        self.composing.change_number(message.number, message.change)

    @on(ParameterSteppers.Type)
    @work(group="compose")
    async def _type_parameter(self, message: ParameterSteppers.Type) -> None:
        await self.composing.type_parameter(message.parameter)

    @on(ParameterSteppers.Rename)
    @work(group="compose")
    async def _rename_parameter(self, message: ParameterSteppers.Rename) -> None:
        await self.composing.rename_parameter(message.parameter)

    @on(ParameterSteppers.Begin)
    @work(group="compose")
    async def _type_number(self, message: ParameterSteppers.Begin) -> None:
        await self.composing.type_number(message.number, message.digit)

    @on(OptionList.OptionSelected, "#completions")
    def _suggestion_clicked(self) -> None:
        self.query_one(MaskEditor).take_suggestion()

    def action_format(self) -> None:
        self.query_one(MaskEditor).action_format()

    @on(RegionMatrixView.Wanted)
    @work(group="compose")
    async def _matrix_wants(self, message: RegionMatrixView.Wanted) -> None:
        await self.composing.wanted(message.what, message.row, message.column)

    def action_undo(self) -> None:
        self.query_one(MaskEditor).undo()
        self.composing.read_text()

    def action_redo(self) -> None:
        self.query_one(MaskEditor).redo()
        self.composing.read_text()

    def action_goto_rule(self) -> None:
        if self.picture is None:
            return
        query, key = self.view.query_cursor, self.view.key_cursor
        if query >= self.picture.query_length or key >= self.picture.key_length:  # of a mask whose tiles are not made
            return
        reason = self.picture.explain(query, key)
        if reason.line is None:
            self.notify(reason.text)
        else:
            self.show_line(reason.line)

    # ------------------------------------------------------------ what is looked at

    def action_next_tile_size(self) -> None:
        sizes = list(TILE_SIZES)
        here = (self.choice.block_m, self.choice.block_n)
        block_m, block_n = sizes[(sizes.index(here) + 1) % len(sizes)] if here in sizes else sizes[0]
        self._look_at(replace(self.choice, block_m=block_m, block_n=block_n))

    def action_next_sample(self) -> None:
        if self.picture is not None and self.picture.batch == 1:
            self.notify("one mask for all samples: there is no other to look at")
        elif self.picture is not None:
            self._look_at(replace(self.choice, batch=(self.choice.batch + 1) % self.picture.batch))

    def action_next_head(self) -> None:
        if self.picture is not None and self.picture.heads == 1:
            self.notify("one mask for all heads: there is no other to look at")
        elif self.picture is not None:
            self._look_at(replace(self.choice, head=(self.choice.head + 1) % self.picture.heads))

    def _look_at(self, choice: Choice) -> None:
        self.choice = choice
        self.compiling.submit()

    # ------------------------------------------------------------ what the maps ask for

    @on(OverlayWanted)
    def _next_overlay(self) -> None:
        overlays = list(Overlay)
        for pane in self.query_one(MapPair).panes:
            pane.overlay = overlays[(overlays.index(pane.overlay) + 1) % len(overlays)]

    @on(FindWanted)
    def _find(self, message: FindWanted) -> None:
        if self.picture is None:
            return
        from compilemask_app.search import find_cell

        found = find_cell(self.picture, message.kind, message.direction, self.view.query_cursor, self.view.key_cursor)
        if found is None:
            self.notify(f"no {message.kind.replace('_', ' ')} in this mask")
        else:
            self.go_to_cell(*found)

    # ------------------------------------------------------------ files

    @work(group="files")
    async def action_save(self) -> None:
        await self.files.save()

    @work(group="files")
    async def action_save_as(self) -> None:
        await self.files.save_as()

    @work(group="files")
    async def action_new(self) -> None:
        await self.files.begin_new()

    @work(group="files")
    async def action_open(self) -> None:
        await self.files.choose()

    @work(group="files")
    async def action_import(self) -> None:
        await self.imports.ask()

    @work(group="files")
    async def open_named(self, name: str) -> None:
        """Open a library mask or a file."""
        await self.files.open_named(name)

    # ------------------------------------------------------------ other screens

    @work(group="looks")
    async def action_compare(self) -> None:
        await self.looks.compare()

    @work(group="looks")
    async def action_goto(self) -> None:
        await self.looks.go_to_cell()

    @work(group="looks")
    async def action_export(self) -> None:
        await self.looks.export()

    def action_figures(self) -> None:
        self.looks.figures()

    def action_proof(self) -> None:
        self.looks.proof()

    def action_reader(self) -> None:
        self.looks.reader()

    def action_times(self) -> None:
        self.looks.times()
