"""`python -m compilemask.command_line`."""

from __future__ import annotations

import sys

from compilemask.command_line.main import main

sys.exit(main())
