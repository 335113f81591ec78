"""Entry point of the `compilemask` command: reads the command line, runs one verb, turns errors into one message."""

from __future__ import annotations

import importlib
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext, suppress

from compilemask.command_line import signals, streams
from compilemask.command_line.arguments import MODULES, Misuse, parser
from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.screen import rendered, say_json
from compilemask.errors import InternalError, MaskFileError, TooLargeError, UnavailableError, UsageError

SERVING = ("open", "worker")  # have threads of their own and end with their streams


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; argparse itself exits with 0 after `--help` and `--version`."""
    streams.open_closed()
    arguments = Namespace()
    try:
        arguments = _parsed(argv)
        run = importlib.import_module(f"compilemask.command_line.{MODULES[arguments.verb]}").run
        with nullcontext() if arguments.verb in SERVING else signals.raised():
            code = int(run(arguments))
        streams.finish()
        return code
    except signals.Ended as ended:
        return _say(128 + ended.number, f"ended by {ended}")
    except Misuse as error:
        return _misused(error, sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return _say(ExitCode.INTERRUPTED, "interrupted")
    except MaskFileError as error:
        return _invalid(error, str(getattr(arguments, "mask", None) or ""), getattr(arguments, "json", False))
    except TooLargeError as error:
        return _refused(ExitCode.NO, str(error), arguments)
    except UsageError as error:
        return _refused(ExitCode.WRONG_USE, str(error), arguments)
    except UnavailableError as error:
        return _refused(ExitCode.UNABLE, str(error), arguments)
    except OSError as error:
        streams.flush()
        where = f"{error.filename}: " if error.filename else ""
        return _refused(ExitCode.WRONG_USE, f"{where}{error.strerror or error}", arguments)
    except Exception as error:
        return _bug(error, argv)


def _parsed(argv: Sequence[str] | None) -> Namespace:
    try:
        return parser().parse_args(argv)
    except SystemExit:
        streams.finish()  # what --help and --version say
        raise


def _misused(error: Misuse, words: Sequence[str]) -> int:
    """A command line that can't be read, so that `--json` has to be looked for in its words."""
    options = words[: words.index("--")] if "--" in words else words
    asked = any(len(word) > 2 and "--json".startswith(word) for word in options)
    if asked:
        _say_json({"error": str(error)})
    return _say(ExitCode.WRONG_USE, f"{error.usage}{error.prog}: error: {error}", prefix="")


def _say(code: int, text: str, prefix: str = "compilemask: ") -> int:
    streams.remark(f"{prefix}{text}")
    return code


def _refused(code: ExitCode, text: str, arguments: Namespace) -> int:
    """One line for people; with --json also an object for programs."""
    if getattr(arguments, "json", False):
        _say_json({"error": text})
    return _say(code, text)


def _say_json(value: object) -> None:
    """JSON on stdout, where that takes it: the exit code and stderr say the same."""
    with suppress(OSError):
        say_json(value)
    streams.flush()


def _invalid(error: MaskFileError, mask: str, as_json: bool) -> int:
    """All findings: for people on stderr, for programs as `check --json` prints them."""
    if not as_json:
        return _say(ExitCode.NO, rendered(error.diagnostics, mask), prefix="")
    from compilemask.command_line.checking import findings_json

    _say_json([findings_json(mask, error.diagnostics)])
    return ExitCode.NO


def _bug(error: Exception, argv: Sequence[str] | None) -> int:
    """Name a defect of ours in one message; `COMPILEMASK_TRACEBACK=1` shows where it happened."""
    if os.environ.get("COMPILEMASK_TRACEBACK"):
        raise error
    what = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    words = " ".join(sys.argv[1:] if argv is None else argv)
    text = (
        f"this is our bug, not yours: {what}\n"
        f"  command: compilemask {words}\n"
        "  To report it, send this message, the mask file and what the same command prints with "
        "COMPILEMASK_TRACEBACK=1."
    )
    return _say(ExitCode.BUG, text)
