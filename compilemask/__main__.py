"""`python -m compilemask` is the console command."""

import sys

from compilemask.command_line.main import main

sys.exit(main())
