"""An unsaved text survives a kill, and another workbench on the same file."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilemask_app import document as files
from compilemask_app.autosave import MOST, Autosave
from compilemask_app.document import Document
from compilemask_app.widgets.mask_editor import MaskEditor

from compilemask.errors import UsageError
from tests.app.conftest import TEXT, MakeApp
from tests.scenes import design, until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where unsaved texts lie."""
    return tmp_path / "unsaved"


@pytest.fixture
def mine(tmp_path: Path) -> Document:
    """A mask file."""
    return files.write(files.new_document(), TEXT, tmp_path / "my.mask")


def left(folder: Path, document: Document) -> str | None:
    """The text that a workbench finds at its start."""
    found = Autosave(folder, document).left_behind()
    return found[1] if found else None


def test_an_unsaved_text_comes_back_until_it_is_saved(folder: Path, mine: Document) -> None:
    first = Autosave(folder, mine)
    first.keep(TEXT + "# lost?\n")
    first.release()
    second = Autosave(folder, mine)
    assert second.left_behind() == (mine, TEXT + "# lost?\n")
    second.forget()
    assert left(folder, mine) is None
    assert not list(folder.iterdir())


def test_the_text_of_a_workbench_that_runs_is_its_own(folder: Path, mine: Document) -> None:
    first, second = Autosave(folder, mine), Autosave(folder, mine)
    first.keep("one")
    assert second.left_behind() is None
    second.keep("two")
    assert (first.beside_another, second.beside_another) == (False, True)
    second.forget()
    first.release()
    assert left(folder, mine) == "one"


def test_texts_of_two_that_were_killed_both_come_back(folder: Path, mine: Document) -> None:
    both = Autosave(folder, mine), Autosave(folder, mine)
    for number, one in enumerate(both):
        one.keep(f"text {number}")
    for one in both:
        one.release()
    third, fourth = Autosave(folder, mine), Autosave(folder, mine)
    found = [kept[1] for one in (third, fourth) if (kept := one.left_behind())]
    assert found == ["text 0", "text 1"]


def test_a_text_left_behind_is_not_written_over_by_another_text(folder: Path, mine: Document) -> None:
    first = Autosave(folder, mine)
    first.keep("old")
    first.release()
    imported = Autosave(folder, mine)  # begins with a text of its own, so it looks for none
    imported.keep("new")
    assert left(folder, mine) == "old"


def test_a_text_that_was_saved_meanwhile_is_forgotten(folder: Path, mine: Document) -> None:
    first = Autosave(folder, mine)
    first.keep(TEXT)
    first.release()
    assert left(folder, mine) is None
    assert not list(folder.iterdir())


def test_more_workbenches_than_there_are_places_lose_only_the_safety(folder: Path, mine: Document) -> None:
    many = [Autosave(folder, mine) for _ in range(MOST + 2)]
    for number, one in enumerate(many):
        one.keep(f"text {number}")
    assert sum(place.suffix == ".mask" for place in folder.iterdir()) <= MOST
    for one in many:
        one.release()


def test_texts_of_other_files_do_not_mix(folder: Path, mine: Document, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    other = files.write(files.new_document(), TEXT, tmp_path / "b" / "my.mask")
    first = Autosave(folder, mine)
    first.keep("one")
    first.release()
    assert left(folder, other) is None


def test_equal_names_in_two_folders_do_not_mix(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        one = Autosave(folder, files.new_document(Path("my.mask")))
        assert one.left_behind() is None
        one.keep(name)
        one.release()


def test_a_place_that_cannot_be_written_loses_only_the_safety(folder: Path) -> None:
    folder.write_text("a file, not a folder", encoding="utf-8")
    kept = Autosave(folder, files.new_document())
    kept.keep(TEXT)
    assert kept.left_behind() is None
    with pytest.raises(UsageError, match="not kept"):
        kept.keep_data("numbers.json", "[]")


def test_files_that_the_text_names_come_back_with_it(folder: Path, mine: Document) -> None:
    first = Autosave(folder, mine)
    first.keep_data("numbers.json", "[1]")
    first.keep("table")
    first.release()
    second = Autosave(folder, mine)
    found = second.left_behind()
    assert found is not None
    assert found[0].folder is not None
    assert (found[0].folder / "numbers.json").read_text(encoding="utf-8") == "[1]"
    second.forget()
    assert not list(folder.iterdir())


class TestInTheWorkbench:
    """What is seen of it."""

    async def test_undo_brings_back_the_text_of_the_file(self, make_app: MakeApp, mine: Document) -> None:
        async with make_app(document=mine).run_test() as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).insert("# lost?\n")
            screen.files.keep_at_the_end()
        async with make_app(document=mine).run_test() as pilot:
            screen = await design(pilot)
            assert screen.text.startswith("# lost?\n")
            screen.query_one(MaskEditor).undo()
            assert screen.text == mine.text
            assert not screen.files.unsaved

    async def test_a_text_left_behind_comes_back_when_its_mask_is_opened(
        self, make_app: MakeApp, mine: Document
    ) -> None:
        app = make_app()
        earlier = Autosave(app.services.autosave_folder, mine)
        earlier.keep("# lost?\n" + TEXT)
        earlier.release()
        async with app.run_test() as pilot:
            screen = await design(pilot)
            await screen.files.open_named(str(mine.path))
            assert screen.text.startswith("# lost?")
            assert screen.files.unsaved

    async def test_a_second_workbench_says_so_and_leaves_the_first_ones_text(
        self, make_app: MakeApp, mine: Document
    ) -> None:
        app = make_app(document=mine)
        first = Autosave(app.services.autosave_folder, mine)
        first.keep("the first one's")
        async with app.run_test() as pilot:
            screen = await design(pilot)
            assert screen.text == mine.text
            for word in ("a", "b"):
                screen.query_one(MaskEditor).insert(f"# {word}\n")
                screen.files.keep()
            await until(pilot, lambda: len(app._notifications) > 0)
            assert ["Another workbench" in note.message for note in app._notifications] == [True]
            screen.query_one(MaskEditor).replace_all(mine.text)
            screen.files.keep()
        first.release()
        assert left(app.services.autosave_folder, mine) == "the first one's"
