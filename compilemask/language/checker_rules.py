"""Checks of one bound rule against the tokens it selects."""

from __future__ import annotations

from compilemask.language import program as ir
from compilemask.language.bind_scope import Scope


def check_rule(scope: Scope, rule: ir.Rule | ir.Limit) -> None:
    """Refuse what some selected token cannot evaluate."""
