"""`compilemask show`: the picture of a mask, its tile map and its statistics."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import check_head, compiled_of, parameter_json, parameters_shown
from compilemask.command_line.picture import ASCII, BLOCKS, Glyphs, mask_picture, tile_picture
from compilemask.command_line.screen import say, say_json, unicode_shown, width
from compilemask.command_line.settings import parameters_of
from compilemask.command_line.views import heading, parameters_table, statistics_table
from compilemask.errors import TooLargeError
from compilemask.pipeline import CompiledMask, Statistics

COMFORTABLE_WIDTH = 88


def run(arguments: Namespace) -> ExitCode:
    """Print everything that is known of a mask without running it."""
    compiled = compiled_of(arguments)
    check_head(compiled, arguments.batch, arguments.head)
    shown = parameters_shown(arguments.mask, parameters_of(arguments), compiled)
    if arguments.json:
        found = statistics_json(compiled, compiled.statistics(arguments.block_m, arguments.block_n))
        say_json({**found, "parameters": [parameter_json(one) for one in shown]})
        return ExitCode.GOOD
    drawn = arguments.width or min(width(), COMFORTABLE_WIDTH)
    show(compiled, arguments.block_m, arguments.block_n, batch=arguments.batch, head=arguments.head, drawn=drawn)
    parameters_table(shown)
    return ExitCode.GOOD


def show(
    compiled: CompiledMask, block_m: int = 128, block_n: int = 128, *, batch: int = 0, head: int = 0, drawn: int = 88
) -> None:
    """Print heading, pictures and statistics of one batch entry and head, `drawn` characters wide."""
    glyphs = BLOCKS if unicode_shown() else ASCII
    heading(compiled)
    if compiled.batch * compiled.heads > 1:
        say(f"drawn: batch {batch}, head {head}; counts are over all of them")
    say()
    for line in _mask_lines(compiled, batch, head, drawn, glyphs):
        say(line.rstrip())
    say()
    say(f"Tiles of {block_m} x {block_n}: {glyphs.nothing} empty  {glyphs.partial} partial  {glyphs.full} full")
    for line in tile_picture(compiled.tiles(block_m, block_n, batch, head), drawn, glyphs):
        say(line.rstrip())
    statistics_table(compiled.statistics(block_m, block_n))


def _mask_lines(compiled: CompiledMask, batch: int, head: int, drawn: int, glyphs: Glyphs) -> list[str]:
    """The picture of the mask; a line instead where it is kept in another order and too scattered in this one."""
    try:
        return mask_picture(compiled, batch, head, drawn, glyphs)
    except TooLargeError as error:
        return [f"No picture of the mask, only of its tiles: {error}."]


def statistics_json(compiled: CompiledMask, statistics: Statistics) -> dict[str, Any]:
    """The object of `show --json`."""
    tile = statistics.tile
    return {
        "name": compiled.name,
        "title": compiled.title,
        "batch": compiled.batch,
        "heads": compiled.heads,
        "query_length": compiled.query_length,
        "key_length": compiled.key_length,
        "visible": statistics.visible,
        "density": statistics.density,
        "max_runs_per_row": statistics.max_runs_per_row,
        "empty_rows": statistics.empty_rows,
        "tile": {
            "block_m": tile.block_m,
            "block_n": tile.block_n,
            "empty": tile.empty,
            "partial": tile.partial,
            "full": tile.full,
            "distinct_partial": tile.distinct_partial,
            "useful": tile.useful,
        },
        "descriptor_bytes": statistics.descriptor_bytes,
        "compile_ms": statistics.compile_ms,
    }
