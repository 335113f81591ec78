"""What loading a part of the program loads, and that documents point to things that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "triton", "textual", "matplotlib", "lark")


def loaded(code: str) -> set[str]:
    """Which of the heavy packages a fresh Python has loaded after running the code."""
    show = f"\nimport sys; print('LOADED', *sorted(set({HEAVY}) & set(sys.modules)))"
    path = f"{ROOT}:{ROOT / 'app'}"
    done = subprocess.run(
        [sys.executable, "-c", code + show],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "code",
    [
        "import compilemask",
        "import compilemask.worker_protocol, compilemask.measure.report",
        "import compilemask; compilemask.compile('causal').descriptor()",
        "import compilemask.worker.service",
        "from compilemask.command_line.main import main; main(['list'])",
        "from compilemask.command_line.main import main; main(['show', 'causal'])",
        "from compilemask.command_line.main import main; main(['explain', 'causal', '--query', '5', '--key', '3'])",
    ],
)
def test_the_compiler_and_its_verbs_load_nothing_heavy(code: str) -> None:
    assert loaded(code) == set()


def test_the_workbench_loads_no_torch() -> None:
    assert loaded("import compilemask_app.main") <= {"textual"}


DOCUMENTS = sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if path.name != "CHANGELOG.md")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    images = re.findall(r'src="([^"]+)"', document.read_text(encoding="utf-8"))

    missing = [link for link in links + images if "://" not in link and not (document.parent / link).resolve().exists()]

    assert missing == []
