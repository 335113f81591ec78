"""From a mask and its sizes to everything derived from it; numpy only.

compiled = compile("shared_prompt_rm", prompt=2048, answers=[1024] * 6)
compiled.rows          # Intervals of batch 0, head 0
compiled.tiles()       # TileMap
compiled.descriptor()  # what the kernel reads
compiled.statistics    # counts for people
"""

from __future__ import annotations
