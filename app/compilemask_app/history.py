"""Times of earlier runs, kept in SQLite in the user's data folder."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from datetime import datetime
from io import StringIO
from pathlib import Path

from compilemask.measure.report import TimingReport

_VERSION = 2
_TABLE = """
CREATE TABLE IF NOT EXISTS times (
    at TEXT NOT NULL, mask TEXT NOT NULL, gpu TEXT NOT NULL, dtype TEXT NOT NULL,
    batch INTEGER NOT NULL, heads INTEGER NOT NULL, head_dim INTEGER NOT NULL,
    query_length INTEGER NOT NULL, key_length INTEGER NOT NULL,
    what TEXT NOT NULL, forward_ms REAL, spread REAL, useful_tflops REAL, executed_tflops REAL, ratio REAL,
    text TEXT NOT NULL DEFAULT ''
)
"""
_FROM_VERSION_1 = "ALTER TABLE times ADD COLUMN text TEXT NOT NULL DEFAULT ''"


class HistoryError(Exception):
    """The file of times can't be used; the text says why and where."""


@dataclass(frozen=True, slots=True)
class TimeRow:
    """One implementation in one run. `at` is local time in ISO format, to the second.

    `text` tells the texts of a mask apart, with their values; empty in rows of versions that did not keep it.
    """

    at: str
    mask: str
    gpu: str
    dtype: str
    batch: int
    heads: int
    head_dim: int
    query_length: int
    key_length: int
    what: str
    forward_ms: float | None
    spread: float | None
    useful_tflops: float | None
    executed_tflops: float | None
    ratio: float | None
    text: str = ""


_COLUMNS = tuple(item.name for item in fields(TimeRow))


def rows_of(report: TimingReport, at: datetime, text: str = "") -> tuple[TimeRow, ...]:
    """A report as rows, about a text."""
    when = at.isoformat(sep=" ", timespec="seconds")
    return tuple(
        TimeRow(
            when,
            report.mask,
            report.gpu,
            report.dtype,
            report.batch,
            report.heads,
            report.head_dim,
            report.query_length,
            report.key_length,
            entry.what,
            entry.forward_ms,
            entry.spread,
            entry.useful_tflops,
            entry.executed_tflops,
            entry.ratio,
            text,
        )
        for entry in report.entries
    )


def add(path: Path, rows: tuple[TimeRow, ...]) -> None:
    """Append rows. Raises HistoryError."""
    with _opened(path) as connection:
        marks = ", ".join("?" for _ in _COLUMNS)
        connection.executemany(
            f"INSERT INTO times ({', '.join(_COLUMNS)}) VALUES ({marks})", [astuple(row) for row in rows]
        )
        connection.commit()


def rows(path: Path, mask: str | None = None) -> tuple[TimeRow, ...]:
    """All rows, the newest first; of one mask if it is given. Raises HistoryError."""
    if not path.exists():
        return ()
    with _opened(path) as connection:
        where = "WHERE mask = ? " if mask is not None else ""
        found = connection.execute(
            f"SELECT {', '.join(_COLUMNS)} FROM times {where}ORDER BY at DESC, rowid",
            (mask,) if mask is not None else (),
        )
        return tuple(TimeRow(*row) for row in found)


def as_csv(rows_: tuple[TimeRow, ...]) -> str:
    """The rows as CSV with a header."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(astuple(row) for row in rows_)
    return text.getvalue()


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=5)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in range(_VERSION + 1):
                raise HistoryError(f"{path} was written by another version of CompileMask; it is left as it is")
            connection.execute(_TABLE)
            if version == 1:
                connection.execute(_FROM_VERSION_1)
            connection.execute(f"PRAGMA user_version = {_VERSION}")
            yield connection
    except (sqlite3.Error, OSError) as error:
        raise HistoryError(f"{path}: {error}") from None
