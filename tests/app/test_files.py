"""Files of the workbench: documents, the history of times."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path

import pytest
from compilemask_app import document as files
from compilemask_app import history
from compilemask_app.history import HistoryError
from compilemask_app.jobs.exporting import export

from compilemask.errors import UsageError
from compilemask.pipeline import compile_text
from tests.app.fake_worker import report
from tests.mask_texts import BATCHED
from tests.scenes import times_of_csv

TEXT = "param length = 8\nlayout\n    token : length\nrules\n    token sees token : causal\n"


class TestDocuments:
    """Reading and writing."""

    def test_a_written_text_is_read_back(self, tmp_path: Path) -> None:
        path = tmp_path / "my.mask"
        document = files.write(files.new_document(), TEXT, path)
        assert files.read(path) == document
        assert document.name == "my"
        assert not files.changed_outside(document)
        assert list(tmp_path.iterdir()) == [path]

    def test_a_change_by_another_program_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "my.mask"
        document = files.write(files.new_document(), TEXT, path)
        path.write_text(TEXT + "# more\n", encoding="utf-8")
        assert files.changed_outside(document)
        path.unlink()
        assert files.changed_outside(document)

    def test_a_file_that_is_not_there_is_begun(self, tmp_path: Path) -> None:
        path = tmp_path / "new.mask"
        document = files.first_document(str(path), {"length": 9})
        assert (document.path, document.name) == (path, "new")
        assert "length = 9" in document.start
        assert not path.exists()
        files.write(document, document.start, path)
        assert files.first_document(str(path)).text == document.start

    @pytest.mark.parametrize("name", ["no/such/folder.mask", "cusal"])
    def test_what_can_be_no_new_file_is_refused(self, name: str) -> None:
        with pytest.raises(UsageError):
            files.first_document(name)

    def test_a_failed_save_leaves_the_old_file(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="not saved"):
            files.write(files.new_document(), TEXT, tmp_path / "no" / "such" / "folder.mask")

    @pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * (5 << 20)])
    def test_what_is_no_mask_is_refused_in_words(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "odd.mask"
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"odd\.mask"):
            files.read(path)

    def test_values_given_at_the_start_are_written_into_the_text(self, tmp_path: Path) -> None:
        document = files.write(files.new_document(), TEXT, tmp_path / "my.mask")
        given = files.with_values(document, {"length": 99, "unknown": [1, 2]})
        assert given.start == TEXT.replace("length = 8", "length = 99")
        assert given.text == TEXT
        assert given.parameters == (("unknown", [1, 2]),)

    @pytest.mark.parametrize(
        ("value", "text"), [([1024] * 6, "[1024] * 6"), ([1, 2], "[1, 2]"), (True, "true"), ("a", '"a"'), (7, "7")]
    )
    def test_values_are_written_as_the_language_has_them(self, value: object, text: str) -> None:
        assert files.literal(value) == text


class TestHistory:
    """Times of earlier runs."""

    def rows(self, at: datetime) -> tuple[history.TimeRow, ...]:
        from compilemask.measure.report import TimingReport
        from compilemask.worker_protocol import Job, MaskInput, Run

        found = report(Run(1, Job.TIME, MaskInput("mask", "")))
        assert isinstance(found, TimingReport)
        return history.rows_of(found, at)

    def test_rows_are_kept_newest_first_and_by_mask(self, tmp_path: Path) -> None:
        path = tmp_path / "data" / "times.sqlite3"
        assert history.rows(path) == ()
        old, new = self.rows(datetime(2026, 1, 1)), self.rows(datetime(2026, 2, 1))
        history.add(path, old)
        history.add(path, new)
        history.add(path, tuple(replace(row, mask="other") for row in old))
        assert history.rows(path, "mask") == new + old
        assert len(history.rows(path)) == 6

    def test_rows_of_the_version_before_are_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "times.sqlite3"
        row = replace(self.rows(datetime(2026, 1, 1))[0], text="")
        kept = [item.name for item in fields(row) if item.name != "text"]
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE TABLE times ({', '.join(kept)})")
            marks = ", ".join("?" for _ in kept)
            connection.execute(f"INSERT INTO times VALUES ({marks})", [getattr(row, name) for name in kept])
            connection.execute("PRAGMA user_version = 1")
            connection.commit()
        new = replace(row, at="2026-02-01", text="00ff")
        history.add(path, (new,))
        assert history.rows(path) == (new, row)

    def test_csv_holds_everything(self) -> None:
        rows = self.rows(datetime(2026, 1, 1))
        rows = (*rows, replace(rows[0], forward_ms=None, ratio=None))
        assert times_of_csv(history.as_csv(rows)) == rows

    def test_a_file_that_is_no_history_is_told_in_words(self, tmp_path: Path) -> None:
        path = tmp_path / "times.sqlite3"
        path.write_text("this is no database, but it is long enough to be looked at" * 20, encoding="utf-8")
        with pytest.raises(HistoryError, match="times"):
            history.rows(path)


class TestExport:
    """What the workbench writes for other programs."""

    def test_what_is_on_the_screen_or_all_of_it(self, tmp_path: Path) -> None:
        compiled = compile_text(BATCHED)
        document = files.write(files.new_document(), BATCHED, tmp_path / "m.mask")

        def said(name: str) -> str:
            return export(compiled, tmp_path / name, document, 1, 1).removeprefix(f"wrote {tmp_path}/")

        assert said("m.npy") == "m.npy: bool [9, 9], sample 1 of 2, head 1 of 2"
        assert said("m.cudnn.npy") == "m.cudnn.npy: int32 [2, 3, 9], sample 1 of 2"
        assert said("m.flashmask.npy") == "m.flashmask.npy: int32 [2, 2, 9, 4]"
        assert said("m.flex.py") == "m.flex.py"
        assert said("m.py") == "m.py"
        assert f'cm.compile("{tmp_path}/m.mask")' in (tmp_path / "m.py").read_text()

    def test_a_snippet_is_of_the_file_and_its_values(self, tmp_path: Path) -> None:
        library = files.document_of("causal")
        mine = files.write(files.new_document(), TEXT, tmp_path / "mine.mask")

        def written(text: str, document: files.Document) -> str:
            export(compile_text(text), tmp_path / "m.py", document, 0, 0)
            return (tmp_path / "m.py").read_text()

        for text, document in ((TEXT, files.new_document()), (TEXT, library), (TEXT + "# more\n", mine)):
            with pytest.raises(UsageError, match="save the mask first"):
                written(text, document)
        assert f'cm.compile("{mine.path}", length=8)' in written(TEXT, mine)
        assert f'cm.compile("{mine.path}", length=9)' in written(TEXT.replace("8", "9"), mine)
        resized = files.document_of("causal", {"length": 77})
        assert 'cm.compile("causal", length=77)' in written(resized.start, resized)
        assert "q: [batch, heads, 77, head_dim]" in written(resized.start, resized)
        more = replace(library, parameters=(("more", 3),))
        assert "more=3)" in written(library.text, more)

    def test_a_size_that_a_snippet_can_not_give_needs_the_file(self, tmp_path: Path) -> None:
        sizes = "param lengths per batch = [[3, 6], [9]], twice = [1] * 2\n"
        text = f"{sizes}layout\n    a : lengths\nrules\n    a sees a : all\n"
        mine = files.write(files.new_document(), text, tmp_path / "mine.mask")
        export(compile_text(text), tmp_path / "m.py", mine, 0, 0)
        assert 'mine.mask", twice=[1, 1])' in (tmp_path / "m.py").read_text()
        with pytest.raises(UsageError, match="save the mask first"):
            export(compile_text(text.replace("6", "7").replace("9", "10")), tmp_path / "m.py", mine, 0, 0)
