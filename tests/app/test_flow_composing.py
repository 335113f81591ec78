"""Matrix, steppers and text, from key to effect."""

from __future__ import annotations

import pytest
from compilemask_app.application import Workbench
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.picture import MaskPicture
from compilemask_app.screens.relation_screen import RelationScreen
from compilemask_app.widgets.completion_list import CompletionList
from compilemask_app.widgets.diagnostics_panel import DiagnosticsPanel
from compilemask_app.widgets.line_note import LineNote
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.parameter_steppers import ParameterSteppers
from compilemask_app.widgets.preview import Preview
from compilemask_app.widgets.region_matrix_view import RegionMatrixView
from textual.widgets import Input, OptionList

from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, answered, burst, dialog, text_of
from tests.scenes import design, until


class TestComposing:
    """Matrix, steppers, relations: all of it is text."""

    async def test_a_relation_is_picked_with_a_preview_and_undone(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            found = pilot.app.screen.query_one("#found", OptionList)
            assert found.highlighted == 1
            await pilot.press("down", "enter")
            await design(pilot)
            assert text_of(screen) == TWO.replace("prompt sees prompt : causal ", "prompt sees prompt : before ")
            screen.query_one(MaskEditor).undo()
            await pilot.pause()
            assert text_of(screen) == TWO
            matrix = screen.query_one(RegionMatrixView).matrix
            assert matrix is not None
            assert matrix.summary(0, 0) == "causal"

    async def test_letters_seek_in_the_list_of_relations(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            line, found = pilot.app.screen.query_one(Input), pilot.app.screen.query_one("#found", OptionList)
            whole = found.option_count
            await pilot.press("b", "e", "f")
            assert line.value == "bef"
            assert [_label(found, place) for place in range(found.option_count)] == [
                "before",
                "before by (at // 64)",
                "bef",
            ]
            await pilot.press("backspace", "backspace", "backspace")
            assert found.option_count == whole
            assert found.highlighted == 1, "the relation as it is"
            await pilot.press("s", "e", "l", "enter")
            await design(pilot)
            assert text_of(screen) == TWO.replace("prompt sees prompt : causal ", "prompt sees prompt : self ")

    async def test_a_relation_of_the_list_is_changed_in_the_line_above_it(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            await pilot.press("w", "tab", "backspace", "7", ")")
            assert pilot.app.screen.query_one(Input).value == "window(behind=128, ahead=07)"
            await pilot.press("enter")
            await design(pilot)
            assert "prompt sees prompt : window(behind=128, ahead=07)" in text_of(screen)

    async def test_what_the_file_names_stands_first_in_the_list(self, make_app: MakeApp) -> None:
        text = TWO.replace("rules", "let near = before and window(behind=9, ahead=0)\nrules")
        async with make_app(text, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            found, preview = pilot.app.screen.query_one("#found", OptionList), pilot.app.screen.query_one(Preview)
            assert _label(found, 0) == "near"
            await pilot.press("home", "up", "up")
            await until(pilot, lambda: found.highlighted == 0)
            await until(pilot, lambda: isinstance(preview.shown, MaskPicture) and preview.shown.density < 0.6)
            await pilot.press("enter")
            await design(pilot)
            assert "prompt sees prompt : near   # kept too" in text_of(screen)

    async def test_a_relation_that_is_not_in_the_list_stays_unless_another_is_chosen(self, make_app: MakeApp) -> None:
        text = TWO.replace("prompt sees prompt : causal", "prompt sees prompt : before or self")
        async with make_app(text, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            assert _label(pilot.app.screen.query_one("#found", OptionList), 0) == "before or self"
            await pilot.press("enter")
            await design(pilot)
            assert text_of(screen) == text

    async def test_regions_are_added_renamed_resized_and_hidden_from_the_keyboard(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "down", "plus")
            await answered(pilot, "draft : 16")
            await design(pilot)
            await pilot.press("up", "f4")
            await answered(pilot, "reply")
            await design(pilot)
            assert "    reply : answers\n    draft : 16\n" in text_of(screen)
            assert "reply sees reply : causal within reply" in text_of(screen)
            await pilot.press("s")
            await answered(pilot, "[8] * 2")
            await design(pilot)
            assert "    reply : [8] * 2\n" in text_of(screen)
            await pilot.press("delete")
            await design(pilot)
            assert "reply sees prompt" not in text_of(screen)
            assert "# kept too" in text_of(screen)

    async def test_what_the_matrix_changed_is_undone_in_the_matrix(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            view = screen.query_one(RegionMatrixView)
            await pilot.press("r", "down", "minus")
            await design(pilot)
            assert view.matrix is not None
            assert [row.name for row in view.matrix.rows] == ["prompt"]
            assert "answer sees" not in text_of(screen)
            await pilot.press("ctrl+z")
            await design(pilot)
            assert text_of(screen) == TWO
            assert [row.name for row in view.matrix.rows] == ["prompt", "answer"]
            await pilot.press("ctrl+y")
            assert "answer sees" not in text_of(screen)

    async def test_the_next_key_is_about_the_region_just_added(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            burst(pilot, "r", "plus", "'draft : 16", "enter", "right", "enter", "'self", "enter")
            await until(pilot, lambda: "    draft sees draft : self" in text_of(screen))

    async def test_a_text_with_errors_of_form_locks_the_matrix(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TWO.replace("rules", "rules (")
            await pilot.press("r", "delete")
            await pilot.pause()
            assert screen.query_one(RegionMatrixView).locked == TWO.splitlines().index("rules") + 1
            assert text_of(screen) == TWO.replace("rules", "rules (")

    async def test_steppers_redraw_while_they_step(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("a", "right", "down", "down", "right")
            screen = await design(pilot)
            assert "param prompt = 42, answers = [24] * 4" in text_of(screen)
            assert screen.picture is not None
            assert screen.picture.query_length == 42 + 4 * 24
            assert screen.query_one(ParameterSteppers).chosen == 2

    async def test_digits_on_a_number_are_its_new_value(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            burst(pilot, "a", "down", "'96", "enter", "up", "'5x", "enter", "backspace", "'7", "enter")
            await until(pilot, lambda: "param prompt = 57, answers = [96] * 3" in text_of(screen))
            assert screen.query_one(ParameterSteppers).chosen == 0

    async def test_a_suggestion_is_clicked(self, make_app: MakeApp) -> None:
        async with make_app(TWO).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.show_line(9, 50)
            await pilot.pause()
            screen.query_one(MaskEditor).insert("\n    answer sees answer : w")
            await pilot.press("i")
            offered = screen.query_one(CompletionList)
            await until(pilot, lambda: offered.is_open and offered.region.height > 0)
            await pilot.click(offered, offset=(3, 0))
            await until(pilot, lambda: "answer sees answer : window" in text_of(screen))
            assert isinstance(screen.focused, MaskEditor)
            assert not offered.is_open

    async def test_words_are_completed(self, make_app: MakeApp) -> None:
        async with make_app(TWO).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            editor = screen.query_one(MaskEditor)
            screen.show_line(9, 50)
            await pilot.pause()
            editor.insert("\n    answer sees an")
            await pilot.pause()
            offered = screen.query_one(CompletionList)
            assert offered.is_open
            await pilot.press("enter")
            assert "    answer sees answer" in text_of(screen)
            assert not offered.is_open

    @pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (100, 12)])
    async def test_suggestions_never_cover_the_line_being_typed(self, make_app: MakeApp, size: tuple[int, int]) -> None:
        text = TWO.replace("order answer stored by at\n", "    # a line\n" * 30 + "    ")
        async with make_app(text, compile_=Pictures()).run_test(size=size) as pilot:
            screen = await design(pilot)
            editor, offered = screen.query_one(MaskEditor), screen.query_one(CompletionList)
            screen.show_line(100, 100)
            await until(pilot, lambda: isinstance(screen.focused, MaskEditor))
            for keys in ("'an", "'swer sees an", "enter", "' : ca"):
                burst(pilot, keys)
                await pilot.pause(0.5)  # the finding of the half-written line takes room from the text
                assert offered.is_open is (keys != "enter")
                line = editor.cursor_screen_offset.y
                assert editor.region.y <= line < editor.region.bottom
                box = offered.region if offered.is_open else None
                assert box is None or box.bottom == line or box.y == line + 1, "beside the line"
                assert box is None or screen.region.contains_region(box)
                assert box is None or box.y >= 1

    async def test_enter_behind_a_complete_word_begins_a_line(self, make_app: MakeApp) -> None:
        async with make_app("param block = 4, blocks = 8\nlayout").run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            editor = screen.query_one(MaskEditor)
            screen.show_line(2, 7)
            await pilot.pause()
            editor.insert("\n    a : block")
            await pilot.pause()
            assert screen.query_one(CompletionList).is_open
            await pilot.press("enter", "b")
            assert text_of(screen).endswith("layout\n    a : block\n    b")
            await pilot.press("space", ":", "space", "b", "l", "o", "c", "k", "down", "enter")
            assert text_of(screen).endswith("    b : blocks")

    async def test_enter_keeps_the_indentation_and_opens_blocks(self, make_app: MakeApp) -> None:
        async with make_app("layout").run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.show_line(1, 7)
            await until(pilot, lambda: isinstance(screen.focused, MaskEditor))
            await pilot.press("enter", "a", "enter", "b", "enter", "enter", "c")
            assert text_of(screen) == "layout\n    a\n    b\n\nc"
            await pilot.press("left", "enter", "space", "space", "space", "space", "space", "backspace")
            assert text_of(screen) == "layout\n    a\n    b\n\n\n    c"

    async def test_what_is_wrong_stands_under_the_line(self, make_app: MakeApp) -> None:
        async with make_app(TWO.replace("within answer", "within answr"), compile_=Pictures()).run_test(
            size=SIZE
        ) as pilot:
            app = pilot.app
            assert isinstance(app, Workbench)
            await until(pilot, lambda: app.design is not None and bool(app.design.findings))
            assert app.design is not None
            app.design.show_line(9, 30)
            note = app.design.query_one(LineNote)
            await until(pilot, lambda: note.has_class("open"))
            assert "answr" in str(note.content)

    async def test_the_line_being_typed_stays_in_view_when_an_error_takes_its_room(self, make_app: MakeApp) -> None:
        text = "\n".join(
            [*TWO.splitlines()[:8], *["    # a line"] * 6, "    answer sees answer : causal within answer"]
        )
        async with make_app(text, compile_=Pictures()).run_test(size=(60, 20)) as pilot:
            screen = await design(pilot)
            editor, note, panel = (
                screen.query_one(MaskEditor),
                screen.query_one(LineNote),
                screen.query_one(DiagnosticsPanel),
            )
            screen.show_line(15, 100)
            await pilot.pause(0.1)
            assert not panel.display
            await pilot.press("x")
            await until(pilot, lambda: panel.display and note.has_class("open"))
            await pilot.pause(0.1)
            line = editor.cursor_screen_offset.y
            assert editor.region.y <= line < editor.region.bottom
            assert not note.region.y <= line < note.region.bottom
            assert editor.region.contains_region(note.region)

    async def test_f8_formats_and_f8_again_changes_nothing(self, make_app: MakeApp) -> None:
        async with make_app(TWO.replace("answer sees prompt : all", "answer   sees prompt:all")).run_test(
            size=SIZE
        ) as pilot:
            screen = await design(pilot)
            await pilot.press("e")
            await until(pilot, lambda: isinstance(screen.focused, MaskEditor))
            await pilot.press("f8")
            formatted = text_of(screen)
            assert "# kept" in formatted
            assert "sees prompt:all" not in formatted
            await pilot.press("f8")
            assert text_of(screen) == formatted

    async def test_f8_formats_from_anywhere(self, make_app: MakeApp) -> None:
        async with make_app(TWO.replace("answer sees prompt : all", "answer   sees prompt:all")).run_test(
            size=SIZE
        ) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "f8")
            assert "answer sees prompt : all" in text_of(screen).replace("  ", " ")


def _label(found: OptionList, place: int) -> str:
    """The first line of an entry."""
    return str(found.get_option_at_index(place).prompt).split("\n")[0]
