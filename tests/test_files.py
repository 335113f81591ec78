"""Files written in one step: what stays of a file that can't be written, of its links and of its mode."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from compilemask_app import document, settings
from compilemask_app.document import Document
from compilemask_app.settings import Settings

from compilemask import library
from compilemask.command_line.main import main
from compilemask.errors import UsageError
from compilemask.files import replacing, write_in_one_step

LOOSE = "layout\n    a : 4\nrules\n    a  sees   a : all\n"
Write = Callable[[Path], object]


def _fmt(path: Path) -> None:
    assert main(["fmt", str(path)]) == 0


WRITERS = {
    "fmt": _fmt,
    "workbench": lambda path: document.write(Document("m", LOOSE), "title\n", path),
    "settings": lambda path: settings.store(Settings(), path),
}


def _full(_: int) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.mask"
    path.write_text(LOOSE, encoding="utf-8")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_link_stays_one_and_a_mode_too(file: Path, tmp_path: Path, write: Write) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "b.mask"
    link.symlink_to("../a.mask")
    write(link)
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") != LOOSE
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(tmp_path)) == ["a.mask", "links"]
    assert os.listdir(link.parent) == ["b.mask"]


def test_a_full_disk_leaves_the_file_as_it_was(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "fsync", _full)
    assert main(["fmt", str(file)]) == 2
    assert capsys.readouterr().err.count("No space left on device") == 1
    with pytest.raises(UsageError, match="No space left"):
        document.write(Document("m", LOOSE), "title\n", file)
    settings.store(Settings(), file)
    assert file.read_text(encoding="utf-8") == LOOSE
    assert os.listdir(file.parent) == ["a.mask"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of a process")
def test_a_file_size_limit_leaves_the_file_as_it_was(file: Path) -> None:
    import resource
    import subprocess
    import sys

    long = LOOSE + "".join(f"#  {number}\n" for number in range(400))
    file.write_text(long, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "compilemask", "fmt", str(file)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)),
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1), ran.stderr
    assert "not written: File too large" in ran.stderr
    assert file.read_text(encoding="utf-8") == long


def test_a_folder_that_takes_no_new_file_still_lets_its_files_be_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ = os.open

    def forbid_new(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return open_(path, flags, mode)

    monkeypatch.setattr(os, "open", forbid_new)
    write_in_one_step(file, "new\n")
    assert file.read_text(encoding="utf-8") == "new\n"
    with pytest.raises(PermissionError):
        write_in_one_step(file.with_name("other.mask"), "new\n")


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_in_one_step(tmp_path / "new", "é\n")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "new").read_bytes() == "é\n".encode()


def test_links_that_lead_to_one_another_are_no_file(tmp_path: Path) -> None:
    link, other = tmp_path / "a.mask", tmp_path / "b.mask"
    link.symlink_to(other)
    other.symlink_to(link)

    with pytest.raises(OSError, match="symbolic links"):
        write_in_one_step(link, "new\n")
    assert link.is_symlink()
    with pytest.raises(UsageError, match=r"a\.mask: a link that leads back to itself$"):
        library.locate(link)
    with pytest.raises(UsageError, match=r"there is no file \S+/c\.mask$"):
        library.locate(tmp_path / "c.mask")
    (tmp_path / "d.mask").symlink_to("nowhere.mask")
    with pytest.raises(UsageError, match=r"a link to nowhere\.mask, which does not exist"):
        library.locate(tmp_path / "d.mask")


def test_a_device_only_takes_what_comes(tmp_path: Path) -> None:
    write_in_one_step(Path(os.devnull), "new\n")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("path", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_the_path_of_a_stream_is_that_stream(path: str) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as end:
        write_in_one_step(Path(path.format(writing)), "new\n")
        os.close(writing)
        assert end.read() == b"new\n"
    with pytest.raises(OSError, match="Bad file descriptor"):
        write_in_one_step(Path(path.format(writing)), "new\n")


def test_a_folder_where_others_files_stay_takes_the_content(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(*_: object) -> NoReturn:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "replace", forbid)
    write_in_one_step(file, "new\n")
    assert file.read_text(encoding="utf-8") == "new\n"
    assert os.listdir(file.parent) == ["a.mask"]


def test_content_that_is_not_finished_leaves_the_file_as_it_was(file: Path) -> None:
    def write_half() -> None:
        with replacing(file) as stream:
            stream.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert file.read_text(encoding="utf-8") == LOOSE
    assert os.listdir(file.parent) == ["a.mask"]
