"""A button of a question, in brackets while it has the keys, so that it shows without colour too."""

from __future__ import annotations

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Button


class AnswerButton(Button):
    """One answer."""

    DEFAULT_CSS = "AnswerButton { min-width: 0; }"

    def __init__(self, answer: str, *, safe: bool) -> None:
        super().__init__(answer, variant="primary" if safe else "default", compact=True)
        self.answer = answer

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """With room for the brackets."""
        return super().get_content_width(container, viewport) + 2

    def render(self) -> RenderResult:
        """The answer, or the answer in brackets."""
        return Content(f"[{self.answer}]" if self.has_focus else f" {self.answer} ")
