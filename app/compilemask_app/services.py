"""What the workbench is given from outside: how to compile, where files lie, which worker. Tests give their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock

from compilemask_app import paths
from compilemask_app.jobs.compile_job import Compile, CompileRequest, Outcome


class LatePictures:
    """Loads the compiler in the thread that first compiles, so that the first paint need not wait for it."""

    def __init__(self) -> None:
        self._lock = Lock()

    def __call__(self, request: CompileRequest) -> Outcome:
        """The picture of a text."""
        with self._lock:
            compile_ = self._pictures
        return compile_(request)

    @cached_property
    def _pictures(self) -> Compile:
        from compilemask.pipeline.memory import keep_freed_memory
        from compilemask_app.jobs.pictures import Pictures

        keep_freed_memory()
        return Pictures()


@dataclass(frozen=True, slots=True)
class Services:
    """`worker` is a shell command that starts a worker elsewhere; None: this machine's own."""

    compile: Compile = field(default_factory=LatePictures)
    worker: str | None = None
    settings_file: Path = field(default_factory=paths.settings_file)
    history_file: Path = field(default_factory=paths.history_file)
    autosave_folder: Path = field(default_factory=paths.autosave_folder)
