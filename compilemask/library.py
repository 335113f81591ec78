"""The library of masks: which there are, where their files lie, and what their headers say.

In a checkout the files lie in `masks/`, in an installed wheel in `compilemask/library_masks`. Every file starts with a
comment block of `# Key: text` lines (a line without a key continues the one above):

    # Idea: who sees whom, in a sentence
    # Source: paper or repository
    # Sizes: what the parameters mean and what the defaults make
    # At 32K: name=value name=value        (values without blanks; "-" when the defaults are that size)
    # Density: the visible share of all cells, at the default sizes
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compilemask.errors import UsageError

SUFFIX = ".mask"
_KEYS = ("Idea", "Source", "Sizes", "At 32K", "Density")
_KEY_LINE = re.compile(rf"#\s*({'|'.join(_KEYS)}):\s*(.*)")
_TITLE_LINE = re.compile(r'title\s+"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Header:
    """What the comment block and the title of a library mask say; a key that is missing is empty."""

    name: str
    title: str
    idea: str
    source: str
    sizes: str
    at_32k: tuple[tuple[str, str], ...]  # (parameter, value as text) that make the mask about 32,768 tokens long
    density: str


@cache
def folder() -> Path:
    """The folder that holds the library. Raises UsageError when the installation lacks it."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "library_masks", package.parent / "masks"):
        if candidate.is_dir():
            return candidate
    raise UsageError(f"the library of masks is missing: neither {package / 'library_masks'} nor {package.parent}/masks")


def names() -> list[str]:
    """The names of all library masks, in alphabetical order."""
    return sorted(path.stem for path in folder().glob(f"*{SUFFIX}"))


def locate(name_or_path: str | Path) -> Path:
    """The file of a library mask, or the path itself when it names an existing file.

    A word without a slash and without `.mask` is a library name first. Raises UsageError with the nearest names.
    """
    text = str(name_or_path)
    looks_like_path = isinstance(name_or_path, Path) or "/" in text or "\\" in text or text.endswith(SUFFIX)
    if not looks_like_path and text in names():
        return folder() / f"{text}{SUFFIX}"
    if not text.strip():
        raise UsageError(f"expected the path of a {SUFFIX} file or the name of a library mask, found {text!r}")
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise UsageError(f"{text:.200}: there is no such user, or no home folder") from None
    try:
        if path.is_file():
            return _a_mask_file(path)
    except OSError as error:  # a name that no file can have, a folder that may not be entered
        raise UsageError(f"{text:.200}: {error.strerror or error}") from None
    if path.is_dir():
        raise UsageError(f"{text} is a folder; expected a {SUFFIX} file or the name of a library mask")
    if path.exists():
        raise UsageError(f"{text}: not a regular file; expected a {SUFFIX} file or the name of a library mask")
    if path.is_symlink():
        raise UsageError(f"{text}: {_broken(path)}")
    if looks_like_path and ("/" in text or "\\" in text or text.endswith(SUFFIX)):
        raise UsageError(_missing(path, text))
    raise UsageError(f"there is no library mask and no file called {text!r}{_nearest(text)}")


def _a_mask_file(path: Path) -> Path:
    """The path, unless it is an array, which people give for the mask that it holds."""
    if path.suffix.lower() == ".npy":
        command = shlex.join(["compilemask", "import", str(path), "-o", f"{path.stem}{SUFFIX}"])
        raise UsageError(f"{path} is an array, expected a {SUFFIX} file: `{command}` makes one")
    return path


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # the folder has been removed
        return "the current folder"


def header(name: str) -> Header:
    """The header of a library mask. Raises UsageError for a name that is not in the library."""
    lines = locate(name).read_text(encoding="utf-8").splitlines()
    values = dict.fromkeys(_KEYS, "")
    current = ""
    for line in lines:
        if not line.startswith("#"):
            break
        if match := _KEY_LINE.match(line):
            current, text = match.group(1), match.group(2)
        else:
            text = line.lstrip("# ")
        if current:
            values[current] = f"{values[current]} {text.strip()}".strip()
    title = next((match.group(1) for line in lines if (match := _TITLE_LINE.match(line))), "")
    return Header(
        name=Path(name).stem,
        title=title,
        idea=values["Idea"],
        source=values["Source"],
        sizes=values["Sizes"],
        at_32k=_settings(values["At 32K"]),
        density=values["Density"],
    )


def _settings(text: str) -> tuple[tuple[str, str], ...]:
    """`a=1 b=[2,3]` as pairs; words without an equals sign are not settings."""
    return tuple((word.partition("=")[0], word.partition("=")[2]) for word in text.split() if "=" in word)


def _broken(link: Path) -> str:
    """Why a link leads nowhere."""
    try:
        link.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # Python before 3.13 has a RuntimeError for links in a circle
        if not isinstance(error, FileNotFoundError):
            return "a link that leads back to itself"
    return f"a link to {os.readlink(link)}, which does not exist"


def _nearest(text: str) -> str:
    near = _close(text.removesuffix(SUFFIX), names())
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return "; `compilemask list` shows the library, and a file is given by its path"


def _close(stem: str, known: list[str]) -> list[str]:
    """At most three names that are close to a mistyped one or have it as the beginning of a word."""
    near = difflib.get_close_matches(stem, known, n=3, cutoff=0.75)
    inside = [name for name in known if len(stem) > 2 and f"_{stem}" in f"_{name}" and name not in near]
    return near + inside[: 3 - len(near)]


def _missing(path: Path, text: str) -> str:
    """What to say of a path that leads nowhere: where was looked, and what there is of a close name."""
    where = "" if path.is_absolute() else f" in {_here()}"
    if not path.parent.is_dir():
        return f"there is no file {text}: the folder {path.parent} does not exist{where}"
    files = sorted(child.stem for child in path.parent.glob(f"*{SUFFIX}") if child.is_file())
    near = [str(path.parent / f"{stem}{SUFFIX}") for stem in _close(path.stem, files)]
    said = f"there is no file {text}{where}"
    if near:
        said += f"; did you mean {' or '.join(near)}?"
    bare = path.parent == Path() and path.suffix == SUFFIX
    in_library = [path.stem] if path.stem in names() else _close(path.stem, names())
    if bare and in_library:
        said += f"; the library has {' and '.join(in_library)}, named without {SUFFIX}"
    return said
