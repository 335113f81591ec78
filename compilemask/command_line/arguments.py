"""The grammar of the command line."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn, TypeAlias

from compilemask.errors import UsageError

MODULES = {
    "open": "workbench",
    "list": "listing",
    "show": "showing",
    "check": "checking",
    "explain": "explaining",
    "compare": "comparing",
    "validate": "validating",
    "compile": "compiling",
    "time": "timing",
    "export": "exporting",
    "import": "importing",
    "fmt": "formatting",
    "worker": "working",
}
"""The module of each verb."""

EXAMPLES = """\
examples:
  compilemask                                      open the workbench
  compilemask list                                 the library of masks
  compilemask show shared_prompt_rm                picture, tile map and statistics
  compilemask show causal --set length=4096 --json
  compilemask show my.mask --set 'answers=[9, 7]'
  compilemask explain clear --query 700 --key 690  visible or not, and by which rule
  compilemask compare my.mask theirs.npy           equal cell by cell, or where they first differ
  compilemask validate hstu                        tile map and kernel against slow references
  compilemask compile causal --target sm_100       registers, memory, instructions; needs no GPU
  compilemask time causal                          beside FlexAttention and SDPA; needs a GPU
  compilemask export causal --to dense -o causal.npy
  compilemask import their.npy -o mine.mask        a mask file from another program's array

exit codes: 0 good; 1 the answer is no (invalid or too large mask, validation failed);
  2 wrong use; 3 this machine can't (no GPU)
"""

EXPORTS = ("dense", "flex", "flashmask", "cudnn", "python", "png", "svg", "pdf")
IMPORTS = ("dense", "endpoints", "flashmask", "cu_seqlens")
EMITS = ("ptx", "sass", "ttgir", "ttir", "llir")
DIRECTIONS = ("forward", "backward")
MOST_DIGITS = 18  # numbers of so many digits fit 64 bits
SET_FILE = "parameters from a JSON object; <(...) works"
DTYPES = ("bfloat16", "float16", "float32")


def parser() -> argparse.ArgumentParser:
    """The parser; its result has `verb` and the verb's own arguments."""
    top = _Parser(
        prog="compilemask",
        description="Design attention masks, see what a GPU would skip, prove them right, compile and time them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    top.set_defaults(verb="open", mask=None, set=[], set_file=[], worker=None)
    verbs = top.add_subparsers(title="verbs", metavar="VERB")
    for add in (
        _open,
        _list,
        _show,
        _check,
        _explain,
        _compare,
        _validate,
        _compile,
        _time,
        _export,
        _import,
        _fmt,
        _worker,
    ):
        add(verbs)
    return top


class Misuse(UsageError):
    """Words that are no command line: what is wrong, in which command (`prog`), and how it is used."""

    def __init__(self, message: str, prog: str, usage: str) -> None:
        super().__init__(message)
        self.prog = prog
        self.usage = usage


class _Parser(argparse.ArgumentParser):
    """Raises Misuse where argparse would exit, and says where a setting without `--set` belongs."""

    def error(self, message: str) -> NoReturn:
        stray = re.match(r"unrecognized arguments: ([A-Za-z_]\w*=\S+)", message)
        text = f"{message}; every setting has its own --set: --set {stray[1]} ..." if stray else message
        raise Misuse(text, self.prog, self.format_usage())


Verbs: TypeAlias = "argparse._SubParsersAction[_Parser]"


class _Version(argparse.Action):
    """Looks the version up only when asked for it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from compilemask import __version__
        from compilemask.command_line import streams

        streams.write(f"compilemask {__version__}\n")
        parser.exit()


def _verb(verbs: Verbs, name: str, text: str) -> argparse.ArgumentParser:
    added = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    added.set_defaults(verb=name)
    return added


def _mask(verb: argparse.ArgumentParser, *, optional: bool = False) -> None:
    verb.add_argument("mask", metavar="MASK", nargs="?" if optional else None, help="path or library name")
    verb.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter, for instance n=64")
    verb.add_argument("--set-file", metavar="FILE", action="append", default=[], help=SET_FILE)


OBJECT = "one JSON object on stdout; where the mask is invalid, the list that `check --json` prints"


def _json(verb: argparse.ArgumentParser, what: str = OBJECT) -> None:
    verb.add_argument("--json", action="store_true", help=what)


def _blocks(verb: argparse.ArgumentParser, *, default: int | None = 128, shown: str = "") -> None:
    shown = shown or ("" if default is None else f" (default {default})")
    verb.add_argument("--block-m", type=_block, default=default, metavar="N", help=f"queries per tile{shown}")
    verb.add_argument("--block-n", type=_block, default=default, metavar="N", help=f"keys per tile{shown}")


def _head(verb: argparse.ArgumentParser, *, default: int | None = 0, shown: str = "default 0") -> None:
    verb.add_argument("--batch", type=natural, default=default, metavar="N", help=f"batch entry ({shown})")
    verb.add_argument("--head", type=natural, default=default, metavar="N", help=f"head ({shown})")


def natural(text: str) -> int:
    """An integer that is at least 0; separators such as 32,768 and 32_768 are allowed."""
    digits = text.replace(",", "").replace("_", "").strip()
    if len(digits) > MOST_DIGITS and digits.isdecimal():
        raise argparse.ArgumentTypeError(f"a number of {len(digits):,} digits is too large")
    try:
        value = int(digits)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r:.80}") from None
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a number that is at least 0, found {value}")
    return value


def place(text: str) -> int | str:
    """The number of a token, or its name as `explain` prints it, such as `clean+36`; the mask knows what it means."""
    return text if re.match(r"[A-Za-z_]", text.strip()) else natural(text)


def _positive(text: str) -> int:
    value = natural(text)
    if value == 0:
        raise argparse.ArgumentTypeError("expected a number that is at least 1, found 0")
    return value


def _block(text: str) -> int:
    value = natural(text)
    if value not in (16, 32, 64, 128, 256):
        raise argparse.ArgumentTypeError(f"expected 16, 32, 64, 128 or 256, found {value}")
    return value


def _open(verbs: Verbs) -> None:
    verb = _verb(verbs, "open", "open the workbench; without a terminal, print the whole report")
    _mask(verb, optional=True)
    verb.add_argument("--worker", metavar="COMMAND", help="starts the worker, e.g. 'ssh box compilemask worker'")


def _list(verbs: Verbs) -> None:
    _json(_verb(verbs, "list", "list the masks of the library"), "a JSON list on stdout, one object per mask")


def _show(verbs: Verbs) -> None:
    verb = _verb(verbs, "show", "show a mask: its picture, its tile map, its statistics")
    _mask(verb)
    _head(verb)
    _blocks(verb)
    verb.add_argument("--width", type=_positive, metavar="N", help="width of the pictures in characters")
    _json(verb)


def _check(verbs: Verbs) -> None:
    verb = _verb(verbs, "check", "check mask files, every finding of every file with its place")
    verb.add_argument("files", metavar="FILE", nargs="+", help="path or library name")
    verb.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter")
    verb.add_argument("--set-file", metavar="FILE", action="append", default=[], help=SET_FILE)
    _json(verb, "a JSON list on stdout, one object per file")


def _explain(verbs: Verbs) -> None:
    verb = _verb(verbs, "explain", "say whether a query sees a key, and by which rule")
    _mask(verb)
    verb.add_argument("--query", type=place, required=True, metavar="Q", help="the query: its number, or answer[2]+97")
    verb.add_argument("--key", type=place, required=True, metavar="K", help="the key: its number, or answer[2]+97")
    _head(verb)
    _json(verb)


def _compare(verbs: Verbs) -> None:
    verb = _verb(verbs, "compare", "say whether two masks are equal cell by cell, and where they first differ")
    for letter in "ab":
        verb.add_argument(letter, metavar=letter.upper(), help="path, library name, or a dense array (.npy)")
    for suffix, whose in (("", "both"), ("-a", "A"), ("-b", "B")):
        wins = " (wins over --set)" if suffix else ""
        verb.add_argument(
            f"--set{suffix}", metavar="NAME=VALUE", action="append", default=[], help=f"a parameter of {whose}{wins}"
        )
        verb.add_argument(
            f"--set-file{suffix}", metavar="FILE", action="append", default=[], help=f"parameters of {whose} from JSON"
        )
    _head(verb, default=None, shown="default: all")
    _json(verb)


def _validate(verbs: Verbs) -> None:
    verb = _verb(verbs, "validate", "compare intervals, tile map, descriptor and kernel with slow references")
    _mask(verb)
    _blocks(verb, default=None)
    _json(verb)


def _compile(verbs: Verbs) -> None:
    verb = _verb(verbs, "compile", "compile the kernel for GPUs, none of which needs to be here")
    _mask(verb)
    verb.add_argument("--target", action="append", metavar="SM", help="sm_90, h100, b200, ... (several allowed)")
    verb.add_argument("--direction", action="append", choices=DIRECTIONS, help="forward or backward (default both)")
    verb.add_argument("--emit", choices=EMITS, help="print this text of the compiler instead of the table")
    _kernel(verb)
    _json(verb)


def _kernel(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--head-dim", type=_positive, default=128, metavar="N", help="values per head (default 128)")
    verb.add_argument("--dtype", choices=DTYPES, default="bfloat16", help="type of q, k and v (default bfloat16)")


def _time(verbs: Verbs) -> None:
    verb = _verb(verbs, "time", "time the kernel beside FlexAttention and SDPA on this GPU")
    _mask(verb)
    verb.add_argument("--heads", type=_positive, default=16, metavar="N", help="heads (default 16)")
    verb.add_argument("--batch-size", type=_positive, default=1, metavar="N", help="batch entries (default 1)")
    _kernel(verb)
    _json(verb)


def _export(verbs: Verbs) -> None:
    verb = _verb(verbs, "export", "write a mask for other programs")
    _mask(verb)
    verb.add_argument("--to", choices=EXPORTS, help="what to write (default: as the ending of FILE says)")
    verb.add_argument("-o", "--output", metavar="FILE", required=True, help="where to write it")
    _blocks(verb, default=None, shown=", flex (default 128)")
    _head(verb, default=None, shown="default: all where the form holds all, else 0")
    verb.add_argument("--all", action="store_true", help="dense: every batch entry and head, [batch, head, query, key]")


def _import(verbs: Verbs) -> None:
    verb = _verb(verbs, "import", "write a mask file from another program's array")
    verb.add_argument("file", metavar="FILE", help="a .npy file")
    verb.add_argument("--as", dest="form", choices=IMPORTS, help="what it says (default: as its type and shape tell)")
    verb.add_argument("-o", "--output", metavar="FILE.mask", required=True, help="where to write the mask")
    verb.add_argument("--causal", action="store_true", help="FlashMask was called causal; documents are causal")
    verb.add_argument(
        "--length", type=_positive, metavar="N", help="keys (endpoints) or queries (flashmask), if not square"
    )


def _fmt(verbs: Verbs) -> None:
    verb = _verb(verbs, "fmt", "rewrite mask files in canonical form")
    verb.add_argument("files", metavar="FILE", nargs="+", help="path; - for stdin to stdout")
    verb.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file would change")


def _worker(verbs: Verbs) -> None:
    _verb(verbs, "worker", "serve the workbench: one JSON object a line on stdin and stdout")
