"""The top line: which mask, how large, whether saved, whether up to date."""

from __future__ import annotations

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from compilemask_app.picture import MaskPicture


class TitleBar(Widget):
    """Name and state of the mask in one line."""

    DEFAULT_CSS = "TitleBar { height: 1; background: $panel; color: $foreground; text-wrap: nowrap; }"

    name_text: reactive[str] = reactive("")
    unsaved: reactive[bool] = reactive(False)
    state: reactive[str] = reactive("")
    broken: reactive[bool] = reactive(False)
    on_disk: reactive[str] = reactive("")
    picture: reactive[MaskPicture | None] = reactive(None)

    def render(self) -> Text:
        """What fits, the state always at the right end."""
        width = self.size.width
        state = self._state()
        left = Text(no_wrap=True, overflow="ellipsis", end="")
        left.append(f" {self.name_text}", style="bold")
        left.append(" ● " if self.unsaved else "   ", style=self.app.theme_variables.get("accent", ""))
        for part in self._parts():
            if left.cell_len + len(part) + 3 + state.cell_len > width:
                break
            left.append(f"{part}   ")
        left.truncate(max(0, width - state.cell_len - 1), overflow="ellipsis")
        gap = max(1, width - left.cell_len - state.cell_len)
        return Text.assemble(left, " " * gap, state, no_wrap=True, end="")

    def _parts(self) -> list[str]:
        picture = self.picture
        if picture is None:
            return []
        parts = [f"{picture.query_length:,} × {picture.key_length:,}"]
        if picture.batch > 1 or picture.heads > 1:
            same = f" (same as head {picture.same_as[0][1]})" if picture.same_as and picture.batch == 1 else ""
            parts.append(f"{picture.looked_at}{same}")
        parts.append(f"{picture.density:.1%} visible")
        if picture.title:
            parts.append(picture.title)
        return parts

    def _state(self) -> Text:
        variables = self.app.theme_variables
        if self.on_disk:
            words = f"{self.on_disk}, the text has errors " if self.broken else f"{self.on_disk} "
            return Text(words, style=f"bold {variables.get('warning', 'yellow')}")
        if self.broken:
            words = "the text has errors" + ("; this is the picture before" if self.picture else "")
            return Text(f"{words} ", style=f"bold {variables.get('error', 'red')}")
        if self.state:
            return Text(f"{self.state} ", style=variables.get("accent", ""))
        if self.picture is None:
            return Text("")
        return Text(f"compiled in {self.picture.compile_ms:,.0f} ms ", style="dim")
