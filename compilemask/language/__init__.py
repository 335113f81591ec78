"""The region language: text to syntax tree, syntax tree to checked program, and the slow meaning of both."""
