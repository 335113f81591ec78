"""Mutated masks: binding and the meaning of a cell end with a mask or with MaskFileError, nothing else."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from compilemask.errors import MaskFileError
from compilemask.language import bind, meaning, parse
from compilemask.source import Source

FOLDER = Path(__file__).parent / "examples"
TEXTS = [path.read_text() for path in sorted(FOLDER.glob("*.mask"))]
PIECES = re.compile(r'\n *|[A-Za-z_]+|\d+|"[^"\n]*"|//|[<>=!]=|[ ]+|\S')
WORDS = [piece for text in TEXTS for piece in PIECES.findall(text) if not piece.isspace()]
NUMBERS = ["0", "-1", "1000", "100000", "2147483648", "9000000000000000000", "any", "true", '"a"', "[]"]


def mutated(rng: random.Random) -> str:
    """An example with up to three words replaced by words of other examples, or numbers by unusual ones."""
    pieces = PIECES.findall(rng.choice(TEXTS))
    for _ in range(rng.choice([1, 1, 2, 3])):
        place = rng.randrange(len(pieces))
        if not pieces[place].isspace():
            pieces[place] = rng.choice(NUMBERS if pieces[place].isdigit() else WORDS)
    return "".join(pieces)


@pytest.mark.parametrize("seed", range(8))
def test_only_mask_file_errors_come_out(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        text = mutated(rng)
        try:
            program = bind(parse(Source("mutated.mask", text)), folder=FOLDER)
            for _ in range(5):
                if program.query_length and program.key_length:
                    q, k = rng.randrange(program.query_length), rng.randrange(program.key_length)
                    meaning.visible(program, q, k)
        except MaskFileError:
            continue
