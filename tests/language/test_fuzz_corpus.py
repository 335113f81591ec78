"""What fuzzing has found: every file of tests/corpus goes through every stage and agrees with the meaning."""

from pathlib import Path

import numpy as np
import pytest

from compilemask.errors import MaskFileError
from compilemask.language import bind, meaning
from compilemask.language.parser import parse, parse_tolerant
from compilemask.pipeline import compile_program
from compilemask.source import Source
from tests.language.fuzz_language import check_text

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.mask"))
ids = [path.stem for path in CORPUS]


@pytest.mark.parametrize("path", CORPUS, ids=ids)
def test_no_stage_breaks(path: Path) -> None:
    check_text(path.read_bytes().decode("utf-8", "replace"))


@pytest.mark.parametrize("path", CORPUS, ids=ids)
def test_the_compiled_mask_is_the_meaning_or_one_clear_error(path: Path) -> None:
    source = Source(path.name, path.read_bytes().decode("utf-8", "replace"))
    if parse_tolerant(source).diagnostics:
        return
    try:
        program = bind(parse(source))
        mask = compile_program(program)
    except MaskFileError:
        return
    for batch in range(mask.batch):
        for head in range(mask.heads):
            assert np.array_equal(mask.dense(batch, head), meaning.dense(program, batch, head))
