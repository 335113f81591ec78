"""Taking a region out of the layout, and the rules and orders that speak of nothing else with it."""

from __future__ import annotations

from collections.abc import Iterator

from compilemask.language import syntax
from compilemask_app.composing.region_matrix import RegionEntry, RegionMatrix
from compilemask_app.composing.text_edits import TextEdit, deleting_line


def delete_region(matrix: RegionMatrix, region: RegionEntry) -> tuple[TextEdit, ...]:
    """The line of the region, then those of its rules and order; none where nothing would be left in a block.

    Rules that name other regions beside it stay, and are then reported.
    """
    if any(len(items) == 1 and items[0] is region.leaf for items in _blocks(matrix.file)):
        return ()
    looks = not any(row.name == region.name and row.leaf is not region.leaf for row in matrix.rows)
    seen = not any(column.name == region.name and column.leaf is not region.leaf for column in matrix.columns)
    edits = [deleting_line(region.leaf.span.line - 1)]
    for block in (one for one in matrix.file.statements if isinstance(one, syntax.Rules)):
        about = [rule for rule in block.rules if _about(rule, region.name, looks=looks, seen=seen)]
        if len(about) < len(block.rules):
            edits += [deleting_line(rule.span.line - 1) for rule in about]
    for order in (one for one in matrix.file.statements if isinstance(one, syntax.Order)):
        if looks and order.selector is not None and _of(order.selector, region.name):
            edits.append(deleting_line(order.span.line - 1))
    return tuple(edits)


def _about(rule: syntax.Node, name: str, *, looks: bool, seen: bool) -> bool:
    """Whether a rule, on one line, says nothing once the region is gone from the sides on which it was."""
    if not isinstance(rule, syntax.Rule) or rule.span.line != rule.span.end_line:
        return False
    return (looks and _of(rule.who, name)) or (seen and _of(rule.whom, name))


def _of(selector: syntax.Selector, name: str) -> bool:
    match selector:
        case syntax.RegionPath(names=names):
            return names[-1] == name
        case syntax.Numbered(path=of) | syntax.Range(path=of) | syntax.Ends(of=of) | syntax.Where(of=of):
            return _of(of, name)
    return False


def _blocks(file: syntax.File) -> Iterator[tuple[syntax.Item, ...]]:
    """What stands together in a layout, at every depth."""
    waiting = [statement.items for statement in file.statements if isinstance(statement, syntax.Layout)]
    while waiting:
        items = waiting.pop()
        yield items
        waiting += [item.items for item in items if isinstance(item, syntax.Group)]
