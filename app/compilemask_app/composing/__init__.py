"""Changes of the text that the matrix and the steppers ask for: pure, from a syntax tree to small replacements."""
