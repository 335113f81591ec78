"""An installed wheel works from another folder, brings its library and puts nothing else on the machine."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run without the paths of this checkout; the output is shown where it fails."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd), "TERM": "dumb"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=240,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment that holds the wheel; what the wheel depends on is borrowed from this one."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", cwd=folder).stdout.strip()
    )
    (site / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return folder / "bin"


def test_the_wheel_has_two_packages_and_the_library(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"compilemask", "compilemask_app"}
    library = {name for name in names if name.startswith("compilemask/library_masks/") and name.endswith(".mask")}
    assert {Path(name).name for name in library} == {path.name for path in (ROOT / "masks").glob("*.mask")}
    data = ("compilemask/py.typed", "compilemask/language/grammar.lark", "compilemask_app/application.tcss")
    assert set(data) <= set(names)


def test_the_command_works_from_another_folder(installed: Path, tmp_path: Path) -> None:
    listed = json.loads(run(installed / "compilemask", "list", "--json", cwd=tmp_path).stdout)
    shown = json.loads(run(installed / "compilemask", "show", "causal", "--json", cwd=tmp_path).stdout)

    assert {mask["name"] for mask in listed} == {path.stem for path in (ROOT / "masks").glob("*.mask")}
    assert shown["name"] == "causal"
    assert shown["visible"] == shown["query_length"] * (shown["query_length"] + 1) // 2


def test_the_packages_come_from_the_wheel_and_no_others_are_there(installed: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.util, compilemask, compilemask_app; "
        "print(compilemask.__file__); print(compilemask_app.__file__); "
        "print([name for name in ('app', 'masks') if importlib.util.find_spec(name)])"
    )

    lines = run(installed / "python", "-c", code, cwd=tmp_path).stdout.splitlines()

    assert all(str(installed.parent) in line for line in lines[:2])
    assert lines[2] == "[]"
