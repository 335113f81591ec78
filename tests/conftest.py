"""Kernels run in Triton's interpreter where there is no GPU; this must be said before anything imports Triton."""

import os
from pathlib import Path

if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")
