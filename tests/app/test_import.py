"""Import: a file of another program becomes a new text, or one clear message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compilemask_app.document import first_document
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens import import_flow
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Question
from compilemask_app.screens.import_flow import fitting
from compilemask_app.widgets.mask_editor import MaskEditor
from textual.pilot import Pilot
from textual.widgets import Button

from compilemask.errors import UsageError
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, answered, dialog
from tests.app.flows import said as below
from tests.scenes import design, until


async def picked(pilot: Pilot[None], path: Path, answer: str) -> None:
    """Name the file and say what it holds."""
    await pilot.press("f10")
    await answered(pilot, str(path))
    await dialog(pilot, Question)
    labels = [str(button.label) for button in pilot.app.screen.query(Button)]
    await pilot.click(list(pilot.app.screen.query(Button))[labels.index(answer)])


def said(screen: DesignScreen) -> str:
    """All notifications."""
    return "\n".join(note.message for note in screen.app._notifications)


class TestImport:
    """f10."""

    async def test_documents_open_unsaved_and_drawn(self, make_app: MakeApp, tmp_path: Path) -> None:
        path = tmp_path / "ends.npy"
        np.save(path, np.array([0, 30, 63]))
        async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await picked(pilot, path, "Documents, causal")
            await until(pilot, lambda: screen.picture is not None and screen.picture.query_length == 63)
            assert "document sees document : causal within document" in screen.query_one(MaskEditor).text
            assert screen.files.unsaved
            assert screen.files.document.path == tmp_path / "ends.mask"
            assert not (tmp_path / "ends.mask").exists()
            await pilot.press("ctrl+s")
            await until(pilot, lambda: not screen.files.unsaved)
            assert (tmp_path / "ends.mask").exists()

    async def test_a_dense_array_with_many_runs_brings_a_data_file(self, make_app: MakeApp, tmp_path: Path) -> None:
        path = tmp_path / "noise.npy"
        cells = np.random.default_rng(1).random((160, 1000)) < 0.5
        np.save(path, cells)
        async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await picked(pilot, path, "Dense")
            await until(pilot, lambda: screen.picture is not None and screen.picture.query_length == 160)
            assert screen.picture is not None
            assert np.array_equal(screen.picture.rows.to_dense(), cells)
            assert not (tmp_path / "noise.rows.json").exists()
            await pilot.press("ctrl+s")
            await until(pilot, lambda: not screen.files.unsaved)
            assert (tmp_path / "noise.rows.json").exists()
            assert not list(screen.app.services.autosave_folder.iterdir())
            screen.query_one(MaskEditor).insert("# saved\n")
            await until(pilot, lambda: screen.picture is not None and screen.picture.revision == screen.revision)
            assert np.array_equal(screen.picture.rows.to_dense(), cells)

    async def test_numbers_of_an_unsaved_import_come_back_with_its_text(
        self, make_app: MakeApp, tmp_path: Path
    ) -> None:
        cells = np.random.default_rng(1).random((160, 1000)) < 0.5
        np.save(tmp_path / "noise.npy", cells)
        async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await picked(pilot, tmp_path / "noise.npy", "Dense")
            await until(pilot, lambda: screen.picture is not None and screen.picture.query_length == 160)
            screen.files.keep()
        killed = first_document(str(tmp_path / "noise.mask"))
        async with make_app(document=killed, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await until(pilot, lambda: screen.picture is not None and screen.picture.query_length == 160)
            assert screen.files.unsaved

    async def test_numbers_are_never_written_over_others(self, make_app: MakeApp, tmp_path: Path) -> None:
        np.save(tmp_path / "noise.npy", np.random.default_rng(1).random((160, 1000)) < 0.5)
        async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await picked(pilot, tmp_path / "noise.npy", "Dense")
            await until(pilot, lambda: screen.picture is not None and screen.picture.query_length == 160)
            (tmp_path / "noise.rows.json").write_text("[]", encoding="utf-8")
            await pilot.press("ctrl+s")
            await until(pilot, lambda: "holds other numbers" in said(screen))
            assert screen.files.unsaved
            assert (tmp_path / "noise.rows.json").read_text(encoding="utf-8") == "[]"
            assert not (tmp_path / "noise.mask").exists()

    @pytest.mark.parametrize(("name", "words"), [("no.npy", "No such file"), ("odd.npy", "expected a .npy file")])
    async def test_a_wrong_file_is_refused(self, make_app: MakeApp, tmp_path: Path, name: str, words: str) -> None:
        (tmp_path / "odd.npy").write_text("odd")
        async with make_app().run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            before = screen.query_one(MaskEditor).text
            await pilot.press("f10")
            await answered(pilot, str(tmp_path / name))
            await until(pilot, lambda: words in below(pilot))
            assert not screen.app._notifications
            assert screen.query_one(MaskEditor).text == before

    async def test_an_array_whose_mask_does_not_compile_is_refused_before_anything_is_lost(
        self, make_app: MakeApp, tmp_path: Path
    ) -> None:
        np.save(tmp_path / "wrong.npy", np.random.default_rng(1).random((160, 1000)) < 0.5)
        async with make_app().run_test(size=SIZE) as pilot:  # whose compiler refuses the word `wrong`
            screen = await design(pilot)
            screen.query_one(MaskEditor).insert("# mine\n")
            before = screen.query_one(MaskEditor).text
            await picked(pilot, tmp_path / "wrong.npy", "Dense")
            await until(pilot, lambda: "wrong.npy is no mask that compiles: unknown word" in said(screen))
            assert len(screen.app._notifications) == 1
            assert screen.app.screen is screen
            assert screen.query_one(MaskEditor).text == before
            assert not list(screen.app.services.autosave_folder.glob("wrong*"))


@pytest.mark.parametrize(
    ("shape", "kind", "answers"),
    [
        ((4, 5), bool, ("Dense",)),
        ((1, 2, 8, 4), np.int32, ("FlashMask", "Dense")),
        ((1, 2, 8, 1), np.int32, ("FlashMask, causal", "Dense")),
        ((1, 2, 8, 2), np.int32, ("FlashMask", "FlashMask, causal", "Dense")),
        ((2, 3, 8), np.int32, ("Row endpoints",)),
        ((3, 8), np.int32, ("Dense", "Row endpoints")),
        ((9,), np.int64, ("Documents", "Documents, causal")),
        ((1, 1, 1, 1, 1), np.int64, ()),
    ],
)
def test_what_is_asked_follows_from_the_array(shape: tuple[int, ...], kind: type, answers: tuple[str, ...]) -> None:
    assert fitting(np.zeros(shape, kind)) == answers


def test_a_file_in_the_way_that_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "mine.rows.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8 text"):
        import_flow._refuse_others(path, "[]")
