"""`compilemask fmt`: mask files in canonical form."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.screen import rendered, say
from compilemask.command_line.streams import remark, write
from compilemask.errors import MaskFileError, UsageError
from compilemask.files import write_in_one_step
from compilemask.language.lexing import MAX_TEXT
from compilemask.language.parser import parse
from compilemask.language.printer import format_file
from compilemask.source import Source
from compilemask.text_files import read_text

STDIN = "-"


def run(arguments: Namespace) -> ExitCode:
    """Rewrite the files; with `--check` only say which would change. Invalid files stay as they are; exit 1 then."""
    code = ExitCode.GOOD
    for name in arguments.files:
        text = _read(name)
        try:
            wanted = format_file(parse(Source("<stdin>" if name == STDIN else name, text)))
        except MaskFileError as error:
            remark(rendered(error.diagnostics, name))
            code = ExitCode.NO
            continue
        if name == STDIN and not arguments.check:
            write(wanted)
        elif wanted != text and arguments.check:
            say(f"{name}: would be reformatted")
            code = ExitCode.NO
        elif wanted != text:
            _write(name, wanted)
            say(f"{name}: reformatted")
    return code


def _write(name: str, text: str) -> None:
    try:
        write_in_one_step(Path(name), text)
    except OSError as error:
        raise UsageError(f"{name}: not written: {error.strerror or error}") from None


def _read(name: str) -> str:
    if name == STDIN:
        try:
            return sys.stdin.read(MAX_TEXT + 1)  # one more is refused by the parser
        except UnicodeDecodeError:
            raise UsageError("<stdin>: not UTF-8 text") from None
    path = Path(name)
    if not os.path.lexists(path):
        raise UsageError(f"{name}: No such file or directory; fmt takes paths of files, no library names")
    return read_text(path, newlines=True)
