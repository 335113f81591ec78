"""What a cell of the matrix holds, changed by small replacements of rules."""

from __future__ import annotations

from compilemask.language import syntax
from compilemask_app.composing.region_matrix import Applied, RegionEntry, RegionMatrix
from compilemask_app.composing.text_edits import TextEdit, deleting_line, inserting_below, replacing


def set_relation(matrix: RegionMatrix, row: int, column: int, how: str) -> TextEdit:
    """Make the cell hold exactly this relation.

    Its own rule is changed where no other rule speaks of the cell. Where wider rules do, the cell is hidden first and
    then shown by a rule of its own, since rules only add up.
    """
    rules = matrix.effective(row, column)
    if len(rules) == 1 and _only_here(matrix, row, column, rules[0]):
        return replacing(rules[0].rule.how.span, how)
    look, seen = matrix.rows[row].name, matrix.columns[column].name
    if not rules:
        return _new_rules(matrix, f"{look} sees {seen} : {how}")
    return _new_rules(matrix, f"{look} cannot see {seen} : all", f"{look} sees {seen} : {how}")


def ways_to_set(matrix: RegionMatrix, row: int, column: int, how: str) -> tuple[tuple[TextEdit, ...], ...]:
    """Ways to have the cell hold a relation, the one of fewest lines first; only the last is right in any case.

    The first leaves to wider rules what they show anyway, the second puts the two lines in place of the cell's own.
    """
    sure = (set_relation(matrix, row, column, how),)
    own = _own_rules(matrix, row, column)
    shown = [rule for rule in own if rule.shows]
    others = [rule for rule in own if rule is not (shown[-1] if shown else None)]
    if any(_holds_more(rule) for rule in others):
        return (sure,)
    gone = tuple(deleting_line(rule.span.line - 1) for rule in others)
    line = f"{matrix.rows[row].name} sees {matrix.columns[column].name} : {how}"
    change = replacing(shown[-1].how.span, how) if shown else _new_rules(matrix, line)
    ways = [(change, *gone)]
    if shown and sure[0] != change and not _holds_more(shown[-1]):
        ways.append((*sure, deleting_line(shown[-1].span.line - 1), *gone))
    return tuple(dict.fromkeys((*ways, sure)))


def hide(matrix: RegionMatrix, row: int, column: int) -> TextEdit | None:
    """Nothing visible in the cell: its only rule goes, or a rule that hides is added; None if it is hidden already."""
    if not matrix.effective(row, column):
        return None
    own = _own_rule(matrix, row, column, shows=True)
    if own is not None and len(matrix.at(row, column)) == 1 and own.span.line == own.span.end_line:
        return deleting_line(own.span.line - 1)
    return _new_rules(matrix, f"{matrix.rows[row].name} cannot see {matrix.columns[column].name} : all")


def _only_here(matrix: RegionMatrix, row: int, column: int, applied: Applied) -> bool:
    """Whether a rule shows something of this cell and speaks of no other, in whatever words."""
    if not applied.rule.shows:
        return False
    if _names(applied.rule.who, matrix.rows[row]) and _names(applied.rule.whom, matrix.columns[column]):
        return True
    others = (rules for cell, rules in matrix.cells.items() if cell != (row, column))
    return not applied.partly and not any(one.rule is applied.rule for rules in others for one in rules)


def _own_rules(matrix: RegionMatrix, row: int, column: int) -> list[syntax.Rule]:
    """The rules that name this cell and no other, and hold at all times, in the order in which they run."""
    always = [
        rule
        for block in matrix.file.statements
        if isinstance(block, syntax.Rules) and block.when is None
        for rule in block.rules
    ]
    return [
        applied.rule
        for applied in matrix.at(row, column)
        if any(applied.rule is rule for rule in always)
        and _names(applied.rule.who, matrix.rows[row])
        and _names(applied.rule.whom, matrix.columns[column])
    ]


def _holds_more(rule: syntax.Rule) -> bool:
    """Whether taking out the line of a rule would take more: a comment, or a part of the rule."""
    return rule.span.line != rule.span.end_line or "#" in rule.span.source.line(rule.span.line)


def _own_rule(matrix: RegionMatrix, row: int, column: int, *, shows: bool) -> syntax.Rule | None:
    """The last rule that is about this cell and no other."""
    for applied in reversed(matrix.at(row, column)):
        rule = applied.rule
        if rule.shows is shows and _names(rule.who, matrix.rows[row]) and _names(rule.whom, matrix.columns[column]):
            return rule
    return None


def _names(selector: syntax.Selector, region: RegionEntry) -> bool:
    return isinstance(selector, syntax.RegionPath) and selector.names[-1] == region.name


def _new_rules(matrix: RegionMatrix, *lines: str) -> TextEdit:
    blocks = [item for item in matrix.file.statements if isinstance(item, syntax.Rules) and item.when is None]
    if blocks and blocks[-1].rules:
        last = blocks[-1].rules[-1]
        indent = " " * (last.span.column - 1)
        return inserting_below(last.span.end_line - 1, "\n".join(indent + line for line in lines))
    end = len(matrix.file.source.text.splitlines())
    return inserting_below(max(0, end - 1), "\nrules\n" + "\n".join(f"    {line}" for line in lines))
