"""What binding finds wrong with a mask: errors that skip a part of it, warnings, and each of them once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from compilemask.language.names import nearest
from compilemask.source import Diagnostic, Severity, Span

NAME_CODES = frozenset(
    [
        "unknown-name",
        "unknown-region",
        "unknown-function",
        "unknown-argument",
        "unknown-word",
        "missing-argument",
        "missing-by",
        "whose-coordinate",
        "side-here",
        "how-is-a-number",
    ]
)


class RejectError(Exception):
    """This part of the file cannot be bound. `diagnostic` is None where the reason has been reported already."""

    def __init__(self, diagnostic: Diagnostic | None) -> None:
        super().__init__(diagnostic.message if diagnostic else "")
        self.diagnostic = diagnostic


def reject(code: str, message: str, span: Span | None, hint: str | None = None) -> RejectError:
    """The exception for one error."""
    return RejectError(Diagnostic(Severity.ERROR, code, message, span, hint))


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """`did you mean ...?` for a name close to a known one."""
    found = nearest(name, known)
    return f"did you mean `{found}`?" if found else None


def counted(number: int, noun: str) -> str:
    """`1 size`, `2 sizes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Findings:
    """The diagnostics of one file; equal ones are kept once."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self.muted = False
        self._selections: dict[tuple[int, int, str], tuple[Span, bool, bool]] = {}
        self._known: set[tuple[object, ...]] = set()

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic."""
        key = (diagnostic.code, diagnostic.message, diagnostic.span and (diagnostic.span.line, diagnostic.span.column))
        if key not in self._known:
            self._known.add(key)
            self.found.append(diagnostic)

    def warn(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Keep a warning, unless the part is not evaluated."""
        if self.muted:
            return
        self.add(Diagnostic(Severity.WARNING, code, message, span, hint))

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Keep the error of the enclosed part and go on behind it."""
        try:
            yield
        except RejectError as rejected:
            found = rejected.diagnostic
            if found is not None and (not self.muted or found.code in NAME_CODES):
                self.add(found)

    def note_selection(self, span: Span | None, some: bool, reachable: bool) -> None:
        """Note whether a selector held any token, for one sample and head; `reachable`: its regions have tokens."""
        if span is None:
            return
        key = (span.line, span.column, span.source.name)
        _, any_some, any_reachable = self._selections.get(key, (span, False, False))
        self._selections[key] = (span, any_some or some, any_reachable or reachable)

    def warn_selections(self) -> None:
        """Warn of selectors that never held a token although their regions have some."""
        for span, some, reachable in self._selections.values():
            if reachable and not some:
                self.warn("selects-nothing", "this selects no token", span, "the rule has no effect with these sizes")

    @property
    def failed(self) -> bool:
        """Whether an error has been kept."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self.found)
