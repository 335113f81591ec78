"""Memory that a compilation has freed serves the next one."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PAGES = """
import resource
from compilemask import pipeline
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
