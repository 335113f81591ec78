"""A fuzzer for everything that reads a mask file: parser, printer, completion, builder, checker and compiler.

`python -m tests.language.fuzz_language CORPUS -max_total_time=600` (libFuzzer options) with the package atheris;
the findings become files in tests/corpus. Whatever the text, only MaskFileError may come out.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

from compilemask.errors import MaskFileError
from compilemask.language.builder_program import python_program
from compilemask.language.completion import complete
from compilemask.language.parser import parse, parse_tolerant
from compilemask.language.printer import format_file
from compilemask.language.vocabulary import WORDS
from compilemask.source import Source

MAX_CELLS = 1 << 16


def check_text(text: str) -> None:
    """Everything that the project does with a text; raises if one part breaks or two parts disagree."""
    parsed = parse_tolerant(Source("<fuzz>", text))
    for diagnostic in parsed.diagnostics:
        diagnostic.render()
    _check_completion(text)
    if parsed.diagnostics:
        _check_program(text)
        return
    canonical = format_file(parsed.file)
    again = parse(Source("<fuzz>", canonical))
    assert again.statements == parsed.file.statements, "printing changed the tree"
    assert list(again.comments.values()) == list(parsed.file.comments.values()), "printing changed a comment"
    assert format_file(again) == canonical, "printing twice changed the text"
    names: dict[str, object] = {}
    exec(python_program(again), names)
    assert names["mask"].text() == canonical, "Python and back changed the text"  # type: ignore[attr-defined]
    _check_program(canonical)


def _check_completion(text: str) -> None:
    place = zlib.crc32(text.encode("utf-8", "replace")) % (len(text) + 1)
    line = text[:place].count("\n") + 1
    complete(text, line, 1 + place - (text[:place].rfind("\n") + 1))


def _check_program(text: str) -> None:
    """Bind and, where it is small, compile; the compiled intervals agree with the meaning of sampled cells."""
    from compilemask.pipeline import compile_text

    try:
        mask = compile_text(text, name="<fuzz>")
    except MaskFileError as error:
        str(error)
        return
    if mask.query_length * mask.key_length > MAX_CELLS:
        return
    mask.tiles(block_m=64, block_n=64)
    mask.descriptor(block_m=64, block_n=64)


def dictionary() -> str:
    """The words of the language in libFuzzer's format."""
    extra = [
        "\\x0a",
        "\\x0a    ",
        " : ",
        " sees ",
        "behind=",
        "ahead=",
        "edge=",
        "cut",
        "shift",
        "q.",
        "k.",
        " of ",
        " by ",
    ]
    return "".join(f'"{word}"\n' for word in [*(word.name for word in WORDS), *extra])


def main() -> None:
    """Fuzz until libFuzzer's options say stop."""
    import atheris

    Path("fuzz.dict").write_text(dictionary())

    def one(data: bytes) -> None:
        check_text(data.decode("utf-8", "replace"))

    atheris.instrument_all()
    atheris.Setup([*sys.argv, "-dict=fuzz.dict"], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
