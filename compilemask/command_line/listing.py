"""`compilemask list`: the library of masks."""

from __future__ import annotations

from argparse import Namespace

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


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 3]}..."
