"""`compilemask list`: the library of masks."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from compilemask import library
from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.screen import say, say_json, width


def run(arguments: Namespace) -> ExitCode:
    """Print a line per library mask."""
    headers = [library.header(name) for name in library.names()]
    if arguments.json:
        say_json(
            [
                {
                    "name": header.name,
                    "title": header.title,
                    "idea": header.idea,
                    "source": header.source,
                    "sizes": header.sizes,
                    "density": header.density,
                    "at_32k": dict(header.at_32k),
                    "parameters": _parameters(header.name),
                }
                for header in headers
            ]
        )
        return ExitCode.GOOD
    longest = max((len(header.name) for header in headers), default=0)
    for header in headers:
        line = f"{header.name:<{longest}}  {header.title}"
        idea = header.idea.split(". ")[0].rstrip(".")
        room = width() - len(line) - 4
        say(f"{line}: {_shortened(idea, room)}" if room > 12 and idea else line)
    say(f"{len(headers)} masks; `compilemask show NAME` draws one")
    return ExitCode.GOOD


def _parameters(name: str) -> list[dict[str, Any]]:
    """The parameters of a library mask with their defaults."""
    from compilemask.command_line.masks import parameter_json
    from compilemask.language.parameter_table import parameter_table
    from compilemask.source import Source
    from compilemask.text_files import read_text

    path = library.locate(name)
    return [parameter_json(one) for one in parameter_table(Source(str(path), read_text(path)), path.parent)]


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 3]}..."
