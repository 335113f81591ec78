"""Which value every parameter has, for every sample: defaults, files, what the caller gives, per batch and per head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.bind_expressions import expression
from compilemask.language.bind_file import Collected, Declared
from compilemask.language.bind_scope import Context, Mode, Scope
from compilemask.language.findings import Findings, RejectError, reject, suggestion
from compilemask.language.parameters import to_value
from compilemask.language.printer_expressions import format_expression
from compilemask.language.shown_arithmetic import constant_in, filled_in
from compilemask.language.values import ListValue, Value, describe
from compilemask.source import Diagnostic, Severity

MOST_SAMPLES = 4096
MOST_HEADS = 4096


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller gives: values for all samples, and per sample."""

    shared: dict[str, Value]
    samples: tuple[dict[str, Value], ...]


def given_values(
    collected: Collected,
    parameters: Mapping[str, object] | None,
    samples: Sequence[Mapping[str, object]] | None,
    findings: Findings,
) -> Given:
    """The caller's values, checked by name."""
    shared = _values(collected, parameters or {}, findings, "")
    per_sample = tuple(
        _values(collected, sample, findings, f" in sample {number}") for number, sample in enumerate(samples or ())
    )
    return Given(shared, per_sample)


def _values(collected: Collected, given: Mapping[str, object], findings: Findings, where: str) -> dict[str, Value]:
    values: dict[str, Value] = {}
    if not isinstance(given, Mapping):
        found = f"a value of type {type(given).__name__}"
        findings.add(
            _error("parameter-value", f"what is given{where} is {found}", "give values by name: {name: value}")
        )
        return values
    for name, value in given.items():
        declared = collected.parameters.get(name)
        if declared is None:
            known = ", ".join(collected.parameters) or "none"
            hint = suggestion(str(name), collected.parameters)
            findings.add(
                _error(
                    "unknown-parameter", f"the mask has no parameter `{name}`{where}", hint or f"parameters: {known}"
                )
            )
            continue
        try:
            values[name] = to_value(value)
        except ValueError as error:
            findings.add(
                _error(
                    "parameter-value",
                    f"`{name}`{where} is given {error}",
                    "allowed: integers, booleans, strings, lists and integer arrays",
                )
            )
    return values


def _error(code: str, message: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic(Severity.ERROR, code, message, None, hint)


# ---------------------------------------------------------------- how many samples


def batch_of(collected: Collected, given: Given, constant: Mapping[str, Value]) -> int:
    """The number of samples: the common length of per-batch values; 1 broadcasts."""
    lengths: dict[str, int] = {}
    if given.samples:
        lengths["samples"] = len(given.samples)
    for name, declared in collected.parameters.items():
        if declared.parameter.per == "batch" and name in constant:
            lengths[f"`{name}`"] = _entries(declared, constant[name])
    return common_length(lengths, "sample", "per batch", MOST_SAMPLES)


def _entries(declared: Declared, value: Value) -> int:
    parameter = declared.parameter
    if not isinstance(value, ListValue):
        raise reject(
            "per-value",
            f"`{parameter.name}` is declared per {parameter.per} and is {describe(value)}",
            parameter.span,
            f"give a list with one entry per {'sample' if parameter.per == 'batch' else 'head'}",
        )
    if not len(value):
        raise reject("per-value", f"`{parameter.name}` is declared per {parameter.per} and is empty", parameter.span)
    return len(value)


def common_length(lengths: Mapping[str, int], noun: str, per: str, most: int) -> int:
    """The one length larger than 1 that all have, or 1."""
    large = {name: length for name, length in lengths.items() if length != 1}
    if len(set(large.values())) > 1:
        shown = ", ".join(f"{name} has {length}" for name, length in large.items())
        raise reject(
            "lengths-differ", f"values {per} differ in length: {shown}", None, f"one entry per {noun}, or a single one"
        )
    length = next(iter(large.values()), 1)
    if length > most:
        named = next(name for name, own in large.items() if own == length)
        message = f"{named} has {length:,} entries, one per {noun}; at most {most:,} {noun}s are allowed"
        raise reject("too-many", message, None, f"one list for every {noun} is a list of one entry: `[[3, 1, 2]]`")
    return length


def in_all_samples(given: Given, name: str) -> bool:
    """Whether every sample brings its own value, so that the declared one is never used."""
    return bool(given.samples) and all(name in sample for sample in given.samples)


# ---------------------------------------------------------------- the values of one sample


class ParameterBinder:
    """Evaluates parameters of one sample on demand, so that a replaced default may use others in any order."""

    def __init__(self, scope: Scope, collected: Collected, given: Given, sample: int | None) -> None:
        self.scope = scope
        self.collected = collected
        self.shared = given.shared
        self.own = (
            given.samples[sample if len(given.samples) > 1 else 0] if given.samples and sample is not None else {}
        )
        self.sample = sample
        self.open: set[str] = set()

    def bind_all(self) -> None:
        """Put every parameter into the scope; those without a value are reported and marked broken."""
        for name in self.collected.parameters:
            with self.scope.findings.catching():
                self.bind(name)

    def bind(self, name: str) -> None:
        """Put one parameter into the scope, those it uses first."""
        if name in self.scope.parameters or name in self.scope.broken:
            return
        declared = self.collected.parameters[name]
        if name in self.open:
            raise reject("parameter-circle", f"`{name}` uses itself", declared.parameter.span)
        self.open.add(name)
        try:
            self.scope.parameters[name] = self._value(declared)
        except RejectError:
            self.scope.broken.add(name)
            raise
        finally:
            self.open.discard(name)

    def _value(self, declared: Declared) -> Value:
        parameter = declared.parameter
        if parameter.name in self.own:
            return self.own[parameter.name]
        value = self.shared.get(parameter.name)
        if value is None:
            value = self._default(declared)
        if parameter.per == "batch" and self.sample is not None:
            count = _entries(declared, value)
            assert isinstance(value, ListValue)
            return value[self.sample if count > 1 else 0]
        return value

    def _default(self, declared: Declared) -> Value:
        parameter = declared.parameter
        if parameter.file is not None:
            return self.collected.table(declared)
        if parameter.default is None:
            raise reject(
                "parameter-missing",
                f"`{parameter.name}` has no value",
                parameter.span,
                f"give it: `{parameter.name}=...`, or write a default: `param {parameter.name} = ...`",
            )
        for name in names_in(parameter.default):
            if name in self.collected.parameters:
                with _silent():
                    self.bind(name)
        bound = expression(self.scope, parameter.default, Context(Mode.VALUE))
        assert isinstance(bound, ir.Constant)
        return bound.value


class _silent:
    """Let an error pass that has been reported where it arose."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, RejectError):
            if error.diagnostic is not None:
                raise error
            return True
        return False


def names_in(node: object) -> Iterator[str]:
    """All words of an expression or statement that may be names, in the order of the text."""
    if isinstance(node, tuple):
        for item in node:
            yield from names_in(item)
    elif isinstance(node, syntax.Node):
        if isinstance(node, syntax.Name | syntax.Call):
            yield node.name
        if isinstance(node, syntax.RegionPath):
            yield from node.names
        for member in fields(node):
            value = getattr(node, member.name)
            if isinstance(value, syntax.Node | tuple):
                yield from names_in(value)


def check_requirements(scope: Scope, requires: Iterable[syntax.Require], where: str) -> None:
    """Report every `require` that fails."""
    for require in requires:
        with scope.findings.catching():
            bound = expression(scope, require.condition, Context(Mode.VALUE))
            if not isinstance(bound, ir.Constant) or type(bound.value) is not bool:
                what = describe(bound.value) if isinstance(bound, ir.Constant) else "no constant"
                raise reject("not-a-condition", f"`require` is {what}, expected a condition", require.condition.span)
            if not bound.value:
                raise reject(
                    "requirement",
                    f"{require.text or 'a requirement of the mask fails'}{where}",
                    require.span,
                    _why(scope, require),
                )


def _why(scope: Scope, require: syntax.Require) -> str | None:
    """The condition with its values, and the numbers that it uses: `here 10 % 4 == 0, with length = 10, size = 4`."""
    known = constant_in(scope, Context(Mode.VALUE))
    filled = format_expression(filled_in(scope, require.condition, known))
    names = [name for name in dict.fromkeys(names_in(require.condition)) if name in scope.parameters]
    shown = [
        f"{name} = {scope.parameters[name]!r}" for name in names if not isinstance(scope.parameters[name], ListValue)
    ]
    parts = [filled] if isinstance(require.condition, syntax.Compare) else []
    parts += [f"with {', '.join(shown)}"] if shown else []
    return f"here {', '.join(parts)}" if parts else None


def constants(collected: Collected, given: Given, findings: Findings) -> dict[str, Value]:
    """The raw values of all parameters that are declared per batch or per head."""
    scope = Scope(findings, expression)
    binder = ParameterBinder(scope, collected, given, None)
    for name, declared in collected.parameters.items():
        if declared.parameter.per is not None and not in_all_samples(given, name):
            with findings.catching():
                try:
                    binder.bind(name)
                except EvaluationError as error:
                    raise reject("evaluation", error.message, declared.parameter.span, error.hint) from None
    return {
        name: value for name, value in scope.parameters.items() if collected.parameters[name].parameter.per is not None
    }
