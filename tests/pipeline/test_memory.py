"""Memory that a compilation has freed serves the next one."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PAGES = """
import resource
from compilemask import pipeline
from compilemask.pipeline.memory import keep_freed_memory
keep_freed_memory()
def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    pipeline.compile("clear", params={"text": 512, "height": 96, "width": 96, "radius": 16}).descriptor()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(pages(), pages(), pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library may give memory back at once")
def test_a_mask_compiled_again_asks_for_hardly_a_new_page() -> None:
    done = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True)
    first, _, third = map(int, done.stdout.split())

    assert third < first / 10


WHO = """
import numpy as np
made, empty = [], np.empty
def noted(shape, *arguments, **options):
    made.append(shape)
    return empty(shape, *arguments, **options)
np.empty = noted
import compilemask.pipeline
from compilemask import compile
from compilemask.pipeline.memory import LARGEST_KEPT
compile("causal").descriptor()
print(LARGEST_KEPT in made)
from compilemask.command_line.main import main
main(["explain", "causal", "--query", "3", "--key", "2"])
print(LARGEST_KEPT in made)
"""


def test_only_programs_change_how_the_process_keeps_memory() -> None:
    done = subprocess.run([sys.executable, "-c", WHO], capture_output=True, text=True, check=True)

    said = done.stdout.splitlines()
    assert (said[0], said[-1]) == ("False", "True")
