"""Every path of the workbench on the user's machine."""

from __future__ import annotations

from pathlib import Path

_NAME = "compilemask"


def settings_file() -> Path:
    """What the user chose: theme, keys, targets, worker."""
    import platformdirs

    return platformdirs.user_config_path(_NAME) / "workbench.json"


def history_file() -> Path:
    """Times of earlier runs."""
    import platformdirs

    return platformdirs.user_data_path(_NAME) / "times.sqlite3"


def autosave_folder() -> Path:
    """Unsaved texts, one file each."""
    import platformdirs

    return platformdirs.user_state_path(_NAME) / "unsaved"
