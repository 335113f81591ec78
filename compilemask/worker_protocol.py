"""What the workbench and its worker say to each other: one JSON object a line, each with its `type`.

The worker speaks first (`Hello`). The other side then sends `Run` and `Cancel`, and closes the stream, or sends
`Shutdown`, to end it. Every `Run` is answered by any number of `Progress` lines and exactly one of `Done`, `Failed` or
`Cancelled`, all with its id. Runs are worked off one after another, in the order of their arrival.
Importing this module loads neither numpy nor torch.
"""

from __future__ import annotations

import json
import math
import types
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from compilemask.job import Job as Job
from compilemask.measure.report import CompileReport, TimingReport, ValidationReport

PROTOCOL = 2
MAX_LINE = 64 * 1024 * 1024
NO_JSON = ("inf", "-inf", "nan")
"""Numbers that JSON has not, in words: the error of a kernel that answered NaN is infinite."""


class Trouble(Enum):
    """Why a run failed: an invalid mask, a wrong request, a machine without what it takes, or a defect of ours."""

    MASK = "mask"
    USAGE = "usage"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


class ProtocolError(ValueError):
    """A line that is no message of this protocol; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class MaskInput:
    """A mask as text, so that it needs not exist as a file where the worker runs.

    `folder` is where the files that it names are looked for (None: it may name none). `parameters` is a JSON object.
    """

    name: str
    text: str
    folder: str | None = None
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes of a run. None and empty mean: the defaults of that job."""

    targets: tuple[str, ...] = ()
    emit: tuple[str, ...] = ()
    block_m: int | None = None
    block_n: int | None = None
    batch: int = 1
    heads: int = 16
    head_dim: int = 128
    dtype: str = "bfloat16"


@dataclass(frozen=True, slots=True)
class Run:
    """Ask for one job."""

    id: int
    job: Job
    mask: MaskInput
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop the run with this id, waiting or in progress; unknown ids are ignored."""

    id: int


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Cancel everything and end the worker."""


@dataclass(frozen=True, slots=True)
class Hello:
    """First line of a worker. `gpu` is None where there is none; versions are None where a package is missing."""

    protocol: int
    version: str
    python: str
    torch: str | None
    triton: str | None
    gpu: str | None


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps; `text` says what is being done now."""

    id: int
    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The report of a run."""

    id: int
    report: ValidationReport | CompileReport | TimingReport


@dataclass(frozen=True, slots=True)
class Failed:
    """The run could not be carried out; `text` is fit to be shown. `id` is None for a line that was no request."""

    id: int | None
    trouble: Trouble
    text: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The run was stopped as asked."""

    id: int


Request: TypeAlias = Run | Cancel | Shutdown
Reply: TypeAlias = Hello | Progress | Done | Failed | Cancelled
Message: TypeAlias = Request | Reply

_MESSAGES: dict[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Run, Cancel, Shutdown, Hello, Progress, Done, Failed, Cancelled)
}
_REPORTS: dict[str, type[Any]] = {kind.__name__: kind for kind in (ValidationReport, CompileReport, TimingReport)}


def encode(message: Message) -> str:
    """The message as one line of JSON, without the line end."""
    body = {"type": type(message).__name__.lower(), **_to_json(message)}
    return json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def decode(line: str) -> Message:
    """The message of one line.

    Raises:
        ProtocolError: the line is too long, is no JSON object, or lacks a field or gives it a wrong type.
    """
    if len(line) > MAX_LINE:
        raise ProtocolError(f"a line of {len(line):,} characters; at most {MAX_LINE:,} are allowed")
    try:
        body = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not a line of JSON: {error}") from None
    if not isinstance(body, dict):
        raise ProtocolError(f"expected a JSON object, found {type(body).__name__}")
    kind = _MESSAGES.get(str(body.pop("type", "")))
    if kind is None:
        raise ProtocolError(f"`type` must be one of {', '.join(sorted(_MESSAGES))}")
    message: Message = _from_json(kind, body, kind.__name__.lower())
    return message


def _to_json(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        body = {item.name: _to_json(getattr(value, item.name)) for item in fields(value)}
        return {"report_type": type(value).__name__, **body} if type(value).__name__ in _REPORTS else body
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    if isinstance(value, dict):
        return {name: _to_json(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # one of NO_JSON
    return value


def _from_json(kind: Any, value: Any, where: str) -> Any:
    """`value` as an instance of the annotation `kind`."""
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _choose(get_args(kind), value, where)
    if origin is tuple:
        return _tuple(get_args(kind), value, where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError:
            words = ", ".join(str(member.value) for member in kind)
            raise ProtocolError(f"{where} must be one of {words}; found {value!r:.80}") from None
    if is_dataclass(kind):
        return _record(kind, value, where)
    if kind is float and (type(value) is int or value in NO_JSON):
        return float(value)
    if type(value) is not kind:
        raise ProtocolError(f"{where} must be of type {kind.__name__}; found {value!r:.80}")
    return value


def _choose(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not type(None))
    if len(kinds) == 1:
        return _from_json(kinds[0], value, where)
    name = value.get("report_type") if isinstance(value, dict) else None
    kind = _REPORTS.get(str(name))
    if kind is None:
        raise ProtocolError(f"{where}.report_type must be one of {', '.join(_REPORTS)}")
    return _from_json(kind, {key: item for key, item in value.items() if key != "report_type"}, where)


def _tuple(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if not isinstance(value, list):
        raise ProtocolError(f"{where} must be a list; found {value!r:.80}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_from_json(kinds[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if len(kinds) != len(value):
        raise ProtocolError(f"{where} must have {len(kinds)} entries; found {len(value)}")
    return tuple(
        _from_json(kind, item, f"{where}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ProtocolError(f"{where} must be an object; found {value!r:.80}")
    hints = get_type_hints(kind)
    unknown = sorted(set(value) - set(hints))
    if unknown:
        raise ProtocolError(f"{where} has no field {unknown[0]!r:.80}; its fields: {', '.join(hints)}")
    arguments = {name: _from_json(hints[name], item, f"{where}.{name}") for name, item in value.items()}
    try:
        return kind(**arguments)
    except TypeError as error:
        raise ProtocolError(f"{where}: {str(error).split(') ')[-1]}") from None
