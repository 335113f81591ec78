"""The region language: text to syntax tree, syntax tree to checked program, and the slow meaning of both."""

from compilemask.language.binder import bind
from compilemask.language.parser import Parsed, parse, parse_tolerant
from compilemask.language.printer import format_file

__all__ = ["Parsed", "bind", "format_file", "parse", "parse_tolerant"]
