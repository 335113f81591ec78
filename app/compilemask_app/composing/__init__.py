"""Changes of the text that the matrix and the steppers ask for: pure, from a syntax tree to small replacements."""

HEADS = -1
"""The row of the column heads, on which a region is chosen by its column."""
