"""Which relations to offer for a cell of the matrix."""

from __future__ import annotations

from dataclasses import dataclass

from compilemask.language import syntax
from compilemask_app.composing.region_matrix import RegionMatrix
from compilemask_app.composing.renaming import walk


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A relation and what it says in words; `own` where the file names it. An empty relation hides the cell."""

    how: str
    meaning: str
    own: bool = False

    @property
    def label(self) -> str:
        """The relation in one line."""
        return " ".join(self.how.split()) or "hide"


def matching(offered: tuple[Suggestion, ...], typed: str) -> tuple[tuple[Suggestion, ...], int]:
    """What fits the words typed, what begins with them first; last the words themselves, as a relation of one's own.

    With it the place of the one meant: the one that reads as typed, else the first.
    """
    typed = " ".join(typed.split())
    words = typed.lower().split()
    found = [item for item in offered if all(word in item.label.lower() for word in words)]
    found.sort(key=lambda item: _distance(item.label.lower(), typed.lower()))
    labels = [item.label for item in found]
    if typed and typed not in labels:
        return (*found, Suggestion(typed, "as typed")), 0
    return tuple(found), labels.index(typed) if typed else 0


def _distance(label: str, typed: str) -> int:
    """0 where a label begins so, 1 where one of its words does, else 2."""
    return 0 if label.startswith(typed) else 1 if f" {typed}" in label else 2


def suggestions(matrix: RegionMatrix, row: int, column: int) -> tuple[Suggestion, ...]:
    """Relations that make sense between two regions, the plainest first."""
    look, seen = matrix.rows[row], matrix.columns[column]
    offered = [
        Suggestion("all", "every key"),
        Suggestion("causal", "keys up to the query's own position"),
        Suggestion("before", "keys before the query, itself not"),
        Suggestion("self", "the same position only"),
        Suggestion("window(behind=128, ahead=0)", "128 keys behind and itself"),
        Suggestion("window(behind=64, ahead=64)", "64 keys on either side and itself"),
    ]
    common = [name for name in look.around if name in seen.around]
    own = [look.name] if look.name == seen.name and _several(matrix, look.name) else []
    for name in [*own, *reversed(common)]:
        offered += [
            Suggestion(f"causal within {name}", f"causal, and never across two of {name}"),
            Suggestion(f"all within {name}", f"every key of the same {name}"),
            Suggestion(f"window(behind=128, ahead=0) within {name}", f"a window that stops at the {name}'s start"),
        ]
    if _grid(look.leaf) and _grid(seen.leaf):
        offered += [
            Suggestion("disc(below=8, edge=cut)", "grid distance below 8"),
            Suggestion("box(7, 7, edge=cut)", "a 7 x 7 neighbourhood, cut at the border"),
            Suggestion("box(7, 7, edge=shift)", "a 7 x 7 neighbourhood that moves inwards at the border"),
        ]
    offered += [
        Suggestion("same (at // 64)", "the same block of 64 within the region"),
        Suggestion("causal by (at // 64)", "blocks of 64 up to the query's own"),
        Suggestion("before by (at // 64)", "blocks of 64 before the query's own"),
        Suggestion("causal and same (pos % 4)", "every fourth key behind"),
    ]
    offered.append(Suggestion("", "hidden: none of these keys"))
    return tuple(offered)


def _grid(leaf: syntax.Leaf) -> bool:
    return any(isinstance(node, syntax.Call) and node.name == "grid" for node in walk((leaf.size,)))


def _several(matrix: RegionMatrix, name: str) -> bool:
    """Whether a region may have more than one instance: a size that is not a plain number."""
    entry = next(entry for entry in matrix.columns if entry.name == name)
    return bool(entry.around) or not isinstance(entry.leaf.size, syntax.Literal)
