"""The one table of what keys do: bindings, footer, command palette and help are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from textual.binding import Binding, BindingType


class Scope(Enum):
    """Where a key works."""

    EVERYWHERE = "Everywhere"
    DESIGN = "Design"
    MAP = "Mask and tile map"
    MATRIX = "Region matrix"
    PARAMETERS = "Parameters"
    EDITOR = "Text"
    FIGURES = "Figures"
    COMPARE = "Compare"
    PROOF = "Proof"
    READER = "Compile reader"
    TIMES = "Times"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. `id` is the name to remap its keys by; `call` is the Textual action it runs.

    `footer` shows it at the bottom; `palette` lists it among the commands; `priority` wins over a focused widget.
    """

    id: str
    scope: Scope
    keys: str
    call: str
    title: str
    help: str
    footer: bool = False
    palette: bool = False
    priority: bool = False
    shown_key: str | None = None


def _a(
    scope: Scope,
    id_: str,
    keys: str,
    call: str,
    title: str,
    help_: str,
    *,
    flags: str = "",
    shown: str | None = None,
) -> Action:
    """`flags`: f footer, p palette, ! priority."""
    return Action(id_, scope, keys, call, title, help_, "f" in flags, "p" in flags, "!" in flags, shown)


# fmt: off
ACTIONS: tuple[Action, ...] = (
    _a(Scope.DESIGN, "validate", "v,f5", "run_job('validate')", "Validate",
       "Check that intervals, tile map and kernel do what the text says, against a dense reference", flags="fp"),
    _a(Scope.DESIGN, "compile", "c,f6", "run_job('compile')", "Compile",
       "Compile the kernel, GPU or not; `targets` in the commands (ctrl+p) chooses for which", flags="fp"),
    _a(Scope.DESIGN, "time", "t,f7", "run_job('time')", "Time",
       "Time the kernel on this machine's GPU, next to its peers", flags="fp"),
    _a(Scope.DESIGN, "cancel", "x", "cancel_job", "Cancel", "Stop the job that is running", flags="p"),
    _a(Scope.DESIGN, "edit", "e", "focus_editor", "Edit", "Go to the text of the mask", flags="fp"),
    _a(Scope.DESIGN, "matrix", "r", "focus_matrix", "Regions", "Go to the region matrix", flags="p"),
    _a(Scope.DESIGN, "parameters", "a", "focus_parameters", "Sizes", "Go to the parameters", flags="p"),
    _a(Scope.DESIGN, "swap", "m", "swap_maps", "Tiles", "Show mask, tile map or both", flags="fp"),
    _a(Scope.DESIGN, "figures", "f", "figures", "Figures",
       "The cell, all counts with what they mean, the jobs in full, the lines of Python", flags="fp"),
    _a(Scope.DESIGN, "leave", "escape", "focus_map", "Map", "Back to the map", flags="p"),
    _a(Scope.DESIGN, "open", "ctrl+o", "open", "Open", "Open a library mask, a recent one or a file", flags="fp!"),
    _a(Scope.DESIGN, "save", "ctrl+s", "save", "Save", "Write the text to its file", flags="p!"),
    _a(Scope.DESIGN, "save_as", "f2", "save_as", "Save as", "Write the text to another file", flags="p"),
    _a(Scope.DESIGN, "export", "f3", "export", "Export",
       "Write picture, dense array, descriptor or a snippet", flags="p"),
    _a(Scope.DESIGN, "import", "f10", "import", "Import",
       "Begin a mask from another program's .npy file", flags="p"),
    _a(Scope.DESIGN, "new", "ctrl+n", "new", "New",
       "Begin a mask of your own: a small causal one to change", flags="p!"),
    _a(Scope.DESIGN, "compare", "k", "compare", "Compare", "Compare with another mask or token order", flags="p"),
    _a(Scope.DESIGN, "proof", "V", "proof", "Proof",
       "Every check of the last validation: error, budget, precision", flags="p"),
    _a(Scope.DESIGN, "reader", "i", "reader", "Read code", "Resources and listings of the compiled kernel", flags="p"),
    _a(Scope.DESIGN, "times", "h", "times", "Times", "Times of this and earlier runs, table and plot", flags="p"),
    _a(Scope.DESIGN, "next_sample", "b", "next_sample", "Next sample", "Look at the next batch entry", flags="p"),
    _a(Scope.DESIGN, "next_head", "d", "next_head", "Next head", "Look at the next head", flags="p"),
    _a(Scope.DESIGN, "tile", "T", "next_tile_size", "Tile size",
       "Next tile size: 128x128, 128x64, 64x64, ...", flags="p", shown="T"),
    _a(Scope.DESIGN, "goto", "g", "goto", "Go to cell", "Go to a query and key by number", flags="p"),
    _a(Scope.DESIGN, "format", "f8", "format", "Format", "Rewrite the text in its standard form", flags="p"),
    _a(Scope.DESIGN, "undo", "ctrl+z", "undo", "Undo",
       "Take back the last change of the text, wherever it was made", flags="p"),
    _a(Scope.DESIGN, "redo", "ctrl+y", "redo", "Redo", "Make the change again that was taken back", flags="p"),
    _a(Scope.DESIGN, "rule", "l", "goto_rule", "Go to rule", "Go to the line of the rule behind the cell", flags="p"),
    _a(Scope.EVERYWHERE, "help", "f1,question_mark", "help", "Help", "All keys, by place", flags="fp"),
    _a(Scope.EVERYWHERE, "quit", "ctrl+q", "quit_safely", "Quit", "Leave; asks if there is unsaved text", flags="p!"),
    _a(Scope.EVERYWHERE, "quit_hint", "q", "help_quit", "How to leave",
       "Says which key quits; so does ctrl+c", flags="p"),
    _a(Scope.MAP, "up", "up", "move(-1,0)", "Up", "Move the cursor"),
    _a(Scope.MAP, "down", "down", "move(1,0)", "Down", "Move the cursor"),
    _a(Scope.MAP, "left", "left", "move(0,-1)", "Left", "Move the cursor"),
    _a(Scope.MAP, "right", "right", "move(0,1)", "Right", "Move the cursor"),
    _a(Scope.MAP, "up_far", "shift+up,pageup", "move(-8,0)", "Up, far", "Move the cursor eight rows"),
    _a(Scope.MAP, "down_far", "shift+down,pagedown", "move(8,0)", "Down, far", "Move the cursor eight rows"),
    _a(Scope.MAP, "left_far", "shift+left", "move(0,-16)", "Left, far", "Move the cursor sixteen columns"),
    _a(Scope.MAP, "right_far", "shift+right", "move(0,16)", "Right, far", "Move the cursor sixteen columns"),
    _a(Scope.MAP, "home", "home", "corner(0)", "First cell", "Go to query 0, key 0", flags="p"),
    _a(Scope.MAP, "end", "end", "corner(1)", "Last cell", "Go to the last query and key", flags="p"),
    _a(Scope.MAP, "zoom_in", "plus,equals_sign", "zoom(True)", "Zoom",
       "Closer, around the cursor", flags="fp", shown="+"),
    _a(Scope.MAP, "zoom_out", "minus", "zoom(False)", "Wider", "Wider, around the cursor", flags="p", shown="-"),
    _a(Scope.MAP, "cells", "enter", "cells", "Cells", "Down to single cells at the cursor", flags="p"),
    _a(Scope.MAP, "fit", "0", "fit", "Whole", "The whole mask", flags="p"),
    _a(Scope.MAP, "borders", "o", "overlay", "Overlay",
       "Overlay: none, tile borders, work per query tile, runs per row, token order", flags="p"),
    _a(Scope.MAP, "minimap", "w", "minimap", "Minimap", "The whole mask in the corner of a part, or not", flags="p"),
    _a(Scope.MAP, "next_empty", "n", "find('empty_row',1)", "Next empty row",
       "Next query that sees nothing", flags="p"),
    _a(Scope.MAP, "last_empty", "N", "find('empty_row',-1)", "Empty row before", "The one before", flags="p"),
    _a(Scope.MAP, "next_partial", "p", "find('partial_tile',1)", "Next partial tile",
       "Next tile that needs a pattern", flags="p"),
    _a(Scope.MAP, "last_partial", "P", "find('partial_tile',-1)", "Partial tile before", "The one before", flags="p"),
    _a(Scope.EDITOR, "leave_text", "escape", "screen.focus_map", "Map", "Back to the map", flags="f!"),
    _a(Scope.EDITOR, "compile_here", "f6", "screen.run_job('compile')", "Compile",
       "As c, while the text has the keys", flags="f!"),
    _a(Scope.EDITOR, "time_here", "f7", "screen.run_job('time')", "Time",
       "As t, while the text has the keys", flags="f!"),
    _a(Scope.EDITOR, "select_all", "f9", "select_all", "Select all", "Select the whole text", flags="p"),
    _a(Scope.EDITOR, "text_start", "ctrl+home", "text_start", "First line",
       "Go to the beginning of the text", flags="p"),
    _a(Scope.EDITOR, "text_end", "ctrl+end", "text_end", "Last line", "Go to the end of the text", flags="p"),
    _a(Scope.EDITOR, "unindent", "shift+tab", "unindent", "Unindent",
       "Move the line, or the lines selected, to the left", flags="p"),
    _a(Scope.EDITOR, "complete", "ctrl+@,ctrl+space", "complete", "Complete",
       "Words that fit here", flags="p", shown="ctrl+space"),
    _a(Scope.MATRIX, "pick", "enter", "pick", "Relation",
       "Choose the relation of this cell; on the head of a column, rename its region", flags="fp"),
    _a(Scope.MATRIX, "hide", "delete,backspace", "hide", "Hide", "These queries see none of these keys", flags="p"),
    _a(Scope.MATRIX, "add_region", "plus,insert", "add_region", "Add region",
       "Add a region after this one", flags="fp"),
    _a(Scope.MATRIX, "rename_region", "f4", "rename_region", "Rename", "Rename this region everywhere", flags="fp"),
    _a(Scope.MATRIX, "resize_region", "s", "resize_region", "Size",
       "Change the size of this region: that of the row, or on a head (up) that of the column", flags="p"),
    _a(Scope.MATRIX, "split_region", "slash", "split_region", "Split",
       "Make two regions of this one that add up; every rule keeps both", flags="p", shown="/"),
    _a(Scope.MATRIX, "repeat_region", "asterisk", "repeat_region", "Repeat",
       "Have this region several times, one after another", flags="p", shown="*"),
    _a(Scope.MATRIX, "delete_region", "minus", "delete_region", "Delete region",
       "Take the region out of the layout", flags="p"),
    _a(Scope.MATRIX, "matrix_line", "l", "line", "Go to rule", "Go to the rule of this cell in the text", flags="p"),
    _a(Scope.PARAMETERS, "less", "left,minus", "step(-1)", "Less", "A smaller value", flags="fp"),
    _a(Scope.PARAMETERS, "more", "right,plus,equals_sign", "step(1)", "More", "A larger value", flags="fp"),
    _a(Scope.PARAMETERS, "type_value", "enter", "type_value", "Type",
       "Type the whole value; a digit begins that of the number", flags="p"),
    _a(Scope.PARAMETERS, "rename_parameter", "f4", "rename", "Rename", "Rename this parameter everywhere", flags="p"),
    _a(Scope.PARAMETERS, "halve", "shift+left", "scale(-1)", "Half", "Half the value", flags="p"),
    _a(Scope.PARAMETERS, "double", "shift+right", "scale(1)", "Double", "Twice the value", flags="p"),
    _a(Scope.FIGURES, "close_figures", "escape,f", "close", "Back", "Back to the design screen", flags="f"),
    _a(Scope.FIGURES, "copy", "y", "copy", "Copy Python",
       "Copy the lines of Python that use the mask", flags="fp"),
    _a(Scope.COMPARE, "close_compare", "escape", "close", "Back", "Back to the design screen", flags="f"),
    _a(Scope.COMPARE, "difference", "d", "next_difference(1)", "Next difference",
       "Go to the next cell that differs", flags="f"),
    _a(Scope.COMPARE, "difference_before", "D", "next_difference(-1)", "Difference before",
       "The one before", flags="p"),
    _a(Scope.COMPARE, "compare_tiles", "m", "swap", "Masks/tiles", "Show the masks or their tile maps", flags="f"),
    _a(Scope.COMPARE, "compare_sizes", "s", "sizes", "Sizes",
       "Give the other mask other sizes, so that both have the same lengths", flags="fp"),
    _a(Scope.COMPARE, "compare_rule", "l", "goto_rule", "Go to rule",
       "Back to the text, to the rule of this mask behind the cell", flags="p"),
    _a(Scope.PROOF, "close_proof", "escape", "close", "Back", "Back to the design screen", flags="f"),
    _a(Scope.READER, "close_reader", "escape", "close", "Back", "Back to the design screen", flags="f"),
    _a(Scope.READER, "search", "slash", "search", "Search",
       "Find text in the listing; where it is in others only, says in which", flags="f", shown="/"),
    _a(Scope.READER, "go_elsewhere", "enter", "go_elsewhere", "Go there",
       "To the listing with what was sought; on a row of the table, to its listing", flags="p"),
    _a(Scope.READER, "next_row", "r", "next_row", "Row",
       "Next row, which is a target and kernel; up and down in the table too", flags="f"),
    _a(Scope.READER, "next_kind", "k", "next_kind", "Kind",
       "Next kind of text: ptx, sass, ttgir; left and right on their tabs too", flags="f"),
    _a(Scope.READER, "next_part", "tab", "app.focus_next", "Next part",
       "From the table to the kinds of text, to the listing, and round"),
    _a(Scope.READER, "found", "n", "next_match(1)", "Next", "Next place found", flags="f"),
    _a(Scope.READER, "found_before", "N", "next_match(-1)", "Before", "Place before", flags="p"),
    _a(Scope.TIMES, "close_times", "escape", "close", "Back", "Back to the design screen", flags="f"),
    _a(Scope.TIMES, "export_times", "e", "export", "Export", "Write the table as CSV", flags="f"),
)
# fmt: on


def bindings(scope: Scope) -> list[BindingType]:
    """The bindings of one place, for a widget's or screen's BINDINGS."""
    return [
        Binding(
            action.keys,
            action.call,
            action.title,
            show=action.footer,
            key_display=action.shown_key,
            priority=action.priority,
            id=action.id,
        )
        for action in ACTIONS
        if action.scope is scope
    ]


def commands(scope: Scope) -> list[Action]:
    """What the command palette offers on the screen of this scope."""
    return [action for action in ACTIONS if action.palette and action.scope in _WITHIN.get(scope, (scope,))]


_WITHIN: dict[Scope, tuple[Scope, ...]] = {
    Scope.DESIGN: (
        Scope.DESIGN,
        Scope.EVERYWHERE,
        Scope.MAP,
        Scope.EDITOR,
        Scope.MATRIX,
        Scope.PARAMETERS,
    ),
    Scope.COMPARE: (Scope.COMPARE, Scope.MAP),
}
"""The places on a screen."""

KEY_PLACES = (
    (Scope.EVERYWHERE, Scope.DESIGN, Scope.MAP),
    (Scope.EVERYWHERE, Scope.COMPARE, Scope.MAP),
    *((scope,) for scope in Scope),
)
"""Scopes whose keys work at the same time; the text, the matrix and the parameters take theirs before the screen."""
