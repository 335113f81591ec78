"""Files that a mask names: included masks, and data for `param ... from`. Data only, and only from beside the mask."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import numpy as np

from compilemask.language.findings import reject
from compilemask.language.parameters import to_value
from compilemask.language.values import Value
from compilemask.source import Source, Span
from compilemask.text_files import NOT_NPY, not_json

LARGEST_DATA = 64 * 2**20
LARGEST_JSON = 16 * 2**20
MOST_JSON_PARTS = 2**20
LARGEST_MASK = 2**20


def locate(folder: Path | None, name: str, root: Path | None, span: Span) -> Path:
    """The file called `name` beside the mask; anything outside of `root` is refused."""
    if folder is None or root is None:
        raise reject("no-folder", f'"{name}" cannot be read: this text does not lie in a file', span)
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or ":" in name or not parts.parts:
        raise reject(
            "path-outside",
            f'"{name}" leads out of the mask\'s folder',
            span,
            "name a file beside the mask, without `..`",
        )
    path = folder / parts
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise reject(
            "file-missing", f'"{name}" does not exist beside the mask', span, _neighbours(folder, name)
        ) from None
    if not resolved.is_relative_to(root.resolve()):
        raise reject("path-outside", f'"{name}" is a link out of the mask\'s folder', span)
    if not resolved.is_file():
        raise reject("file-missing", f'"{name}" is not a file', span)
    return resolved


def _neighbours(folder: Path, name: str) -> str | None:
    suffix = PurePosixPath(name).suffix
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix == suffix)[:8]
    except OSError:
        return None
    return f"there: {', '.join(names)}" if names else None


def mask_text(path: Path, name: str, span: Span) -> Source:
    """The text of an included mask."""
    return Source(name, _bytes(path, name, LARGEST_MASK, span).decode("utf-8", errors="replace"))


def _bytes(path: Path, name: str, most: int, span: Span, hint: str | None = None) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise reject("file-unreadable", f'"{name}" cannot be read: {error.strerror}', span) from None
    if len(data) > most:
        raise reject("file-too-large", f'"{name}" is larger than {most // 2**20} MiB', span, hint)
    return data


def data(path: Path, name: str, span: Span) -> Value:
    """The value in a .json or .npy file: booleans, integers, strings, lists of them."""
    match path.suffix:
        case ".json":
            return _json(path, name, span)
        case ".npy":
            return _npy(path, name, span)
    raise reject("file-kind", f'"{name}" is neither .json nor .npy', span)


def _json(path: Path, name: str, span: Span) -> Value:
    text = _bytes(path, name, LARGEST_JSON, span, "save a large table of numbers as .npy")
    parts = text.count(b"[") + text.count(b'"') // 2
    if parts > MOST_JSON_PARTS:
        message = f'"{name}" holds more than {MOST_JSON_PARTS:,} lists and strings'
        raise reject("file-too-large", message, span, "save a table of numbers as .npy: one array for all its rows")
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise reject("file-content", f'"{name}" is not valid JSON: {not_json(error)}', span) from None
    try:
        return to_value(loaded)
    except ValueError as error:
        raise reject(
            "file-content", f'"{name}" holds {error}', span, "allowed: booleans, integers, strings, lists"
        ) from None


def _npy(path: Path, name: str, span: Span) -> Value:
    size = path.stat().st_size
    if size > LARGEST_DATA:
        raise reject("file-too-large", f'"{name}" is larger than {LARGEST_DATA // 2**20} MiB', span)
    try:
        with path.open("rb") as stream:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, kind = read(stream)
            if kind.hasobject:
                raise reject(
                    "file-content",
                    f'"{name}" holds pickled objects, which could run code',
                    span,
                    "save integers or booleans",
                )
            if kind.kind not in "iub":
                raise reject("file-content", f'"{name}" holds {kind}, expected integers or booleans', span)
            if int(np.prod(shape, dtype=object)) * kind.itemsize > size:
                raise reject("file-content", f'"{name}" is cut off: its header promises more than it holds', span)
            stream.seek(0)
            array = np.load(stream, allow_pickle=False)
    except (*NOT_NPY, OSError):
        raise reject("file-content", f'"{name}" is not a valid .npy file', span) from None
    try:
        return to_value(array)
    except ValueError as error:
        raise reject("file-content", f'"{name}" holds {error}', span) from None
