"""The errors that people see. Each message says where, what, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from compilemask.source import Diagnostic


class CompileMaskError(Exception):
    """Base of every error this package raises on purpose; its text is fit to be shown as it is."""


class MaskFileError(CompileMaskError):
    """A mask file or its sizes are wrong. `diagnostics` holds every finding, errors first in file order."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n\n".join(d.render() for d in self.diagnostics))

    def __reduce__(self) -> tuple[type[MaskFileError], tuple[tuple[Diagnostic, ...]]]:
        """From its findings: pools of processes send errors home, and copies are made of them."""
        return type(self), (self.diagnostics,)


class UsageError(CompileMaskError):
    """A call or a command line that can't be carried out as written (exit code 2)."""


class TooLargeError(UsageError):
    """A valid mask with more of something than what was asked of it can take: runs in an order of tokens, cells of a
    file (exit code 1, as where a mask breaks a limit of the compiler)."""


class UnavailableError(CompileMaskError):
    """This machine lacks what was asked for, a GPU for instance (exit code 3)."""


class MaskWarning(UserWarning):
    """What a mask file is warned of: it compiles, and probably doesn't mean what it says."""


class InternalError(Exception):
    """An invariant of CompileMask itself is broken: our bug, not the user's."""
