"""What this machine has, found without importing torch."""

from __future__ import annotations

import ctypes
import platform
import re
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path


@cache
def gpu_name() -> str | None:
    """The name of the first CUDA GPU, asked of its driver.

    None where there is no driver or no GPU, or where PyTorch is built for CPUs only.
    """
    if not torch_has_cuda():
        return None
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device = ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
        return None
    if driver.cuDeviceGetName(name, len(name), device):
        return "CUDA GPU"
    return name.value.decode(errors="replace")


@cache
def torch_has_cuda() -> bool:
    """Whether the installed PyTorch is built for CUDA, as the file with its version says; false if there is none."""
    found = find_spec("torch")
    if found is None or found.origin is None:
        return False
    try:
        text = Path(found.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return True  # a build of its own kind: the driver decides
    return re.search(r"^cuda\b[^=\n]*=\s*None\b", text, re.MULTILINE) is None


def has_triton() -> bool:
    """Whether Triton is installed; it exists for Linux only."""
    return find_spec("triton") is not None


def version_of(package: str) -> str | None:
    """The installed version of a package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def python_version() -> str:
    """The version of the running Python, for instance 3.11.7."""
    return platform.python_version()
