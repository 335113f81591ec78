"""The meaning of a bound program, evaluated for blocks of cells: the reference that `validate` compares with.

It follows the text of `language.program` literally, cell by cell, and shares nothing with the lowering to intervals.
Its own reference is `language.meaning`, which evaluates one cell at a time.
"""

from compilemask.measure.oracle.block import BlockOracle

__all__ = ["BlockOracle"]
