"""Write docs/masks.md from the headers of the library: `python docs/make_masks_page.py`."""

from __future__ import annotations

from pathlib import Path

from compilemask import library
from compilemask.language.parameter_table import ShownParameter, parameter_table
from compilemask.source import Source
from compilemask.text_files import read_text

PAGE = Path(__file__).with_name("masks.md")
LONGEST_DEFAULT = 32

INTRODUCTION = """# The library of masks

Every mask is a short file in `masks/`; its header says the idea, the source, what the parameters mean and the sizes
that make it about 32,768 tokens long. `compilemask show NAME` draws one, `--set name=value` changes a size, and
`compilemask.compile("NAME", name=value)` compiles it in Python. The visible share is that of the default sizes.
Parameters stand with their defaults, long ones cut short.

Where implementations disagree, each reading has a file of its own:

| what differs | readings |
|---|---|
| reach limit of HSTU for targets | `hstu_meta` (PyTorch: limited), `hstu_meta_cuda` (targets see the whole history) |
| HSTU without causality | `hstu_meta` (causal=True), `hstu_meta_two_sided` (causal=False: distances have no sign) |
| targets of HSTU | `hstu` (each alone), `hstu_nvidia` (in groups), `sla` (not even themselves) |
| a window of size n, causal | `sliding_window` (n keys with itself), `sliding_window_behind` (n earlier keys) |
| a window of size n, both sides | `local_window` (distance <= n), `local_window_strict` (< n), `local_window_half` |
| first tokens beside a window | `window_sinks` (seen no further ahead than the window), `global_window` |
| draft blocks of DFlash | `dflash` (whole), `dflash_causal` (in order), `dflash_sliding` (in order, near context) |
| causal when lengths differ | `causal_end` (last query at the last key), `causal_start` (first at first) |
| images in a local layer | `gemma3_local` (images stay whole), `gemma3_local_cut` (the window cuts them) |
| the border of a 2-D window | `natten_2d` (moves inwards), `neighbourhood_cut` (is cut) |
| padding behind packed documents | `document_padded` (invisible), `document_padding_joined` (part of the last one) |
| events of the same moment | `time_window` (see each other), `time_window_causal` (in their order) |
"""


def page() -> str:
    """The whole page."""
    lines = [
        INTRODUCTION,
        f"## All {len(library.names())} masks",
        "",
        "| mask | parameters | idea | source | visible |",
        "|---|---|---|---|---|",
    ]
    for name in library.names():
        header = library.header(name)
        link = f"[`{name}`](../masks/{name}.mask)"
        cells = (link, parameters(name), header.idea, header.source, header.density)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def parameters(name: str) -> str:
    """The parameters with their defaults, those of included files too."""
    path = library.locate(name)
    table = parameter_table(Source(str(path), read_text(path)), path.parent)
    return ", ".join(f"`{one.name}{_default(one)}`" + (f" per {one.per}" if one.per else "") for one in table)


def _default(parameter: ShownParameter) -> str:
    if parameter.file is not None:
        return f' from "{parameter.file}"'
    text = parameter.default
    if text is None:
        return ""
    return f"={text}" if len(text) <= LONGEST_DEFAULT else f"={text[: LONGEST_DEFAULT - 1]}…"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
