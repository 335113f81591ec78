"""From a mask and its sizes to everything derived from it; numpy only.

compiled = compile("shared_prompt_rm", prompts=[512] * 2, responses=[[256] * 4] * 2)
compiled.rows          # Intervals of batch 0, head 0
compiled.tiles()       # TileMap
compiled.descriptor()  # what the kernel reads
compiled.statistics()  # counts for people
"""

from compilemask.pipeline.compiled import CompiledMask
from compilemask.pipeline.compiling import compile, compile_file, compile_program, compile_text  # noqa: A004
from compilemask.pipeline.explanation import Explanation
from compilemask.pipeline.statistics import Statistics, TileStatistics

__all__ = [
    "CompiledMask",
    "Explanation",
    "Statistics",
    "TileStatistics",
    "compile",
    "compile_file",
    "compile_program",
    "compile_text",
]
