"""What the workbench is given from outside: how to compile, where files lie, which worker. Tests give their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from compilemask_app import paths
from compilemask_app.jobs.compile_job import Compile
from compilemask_app.jobs.pictures import Pictures


@dataclass(frozen=True, slots=True)
class Services:
    """`worker` is a shell command that starts a worker elsewhere; None: this machine's own."""

    compile: Compile = field(default_factory=Pictures)
    worker: str | None = None
    settings_file: Path = field(default_factory=paths.settings_file)
    history_file: Path = field(default_factory=paths.history_file)
    autosave_folder: Path = field(default_factory=paths.autosave_folder)
