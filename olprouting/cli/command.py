"""Commands whose options come from classes of options."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from olprouting.parameters import Options, Parameter


@dataclass(frozen=True)
class Taken:
    """What a command takes of a class of options.

    Attributes
    ----------
    names
        Parameters that become options of the command, in their order.
    changes
        What is different with this command: attributes of `Parameter` by name of the parameter.
    fixed
        Parameters that have a value which the user does not choose.
    """

    names: tuple[str, ...]
    changes: Mapping[str, Mapping[str, Any]]
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self, group: type[Options]) -> list[Parameter]:
        """Return the parameters that become options."""
        return [
            replace(group.parameters[name], **self.changes.get(name, {})) for name in self.names
        ]


def take(
    *names: str, fixed: Mapping[str, Any] | None = None, **changes: Mapping[str, Any]
) -> Taken:
    """Say in an annotation which parameters of a class of options a command has; see `Taken`."""
    return Taken(names, changes, fixed or {})


def option(group: type[Options], name: str, *flags: str, **changes: Any) -> Any:
    """Return the Typer option of one parameter, for a command that treats it in its own way.

    Parameters
    ----------
    group, name
        The parameter.
    *flags
        Its options on the command line, where they are others.
    **changes
        Attributes of `Parameter` that are different with this command; ``show_default`` is Typer's.
    """
    shown = changes.pop("show_default", True)
    return _typer_option(replace(group.parameters[name], **changes), flags, show_default=shown)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Spread out a command's arguments that are classes of options, so that Typer sees each option.

    Such an argument is annotated with the class and with `take`. The function gets an object of
    that class; out of range, its values are refused before the function runs.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, tuple[type[Options], Taken, list[Parameter]]] = {}
    spread: dict[str, inspect.Parameter] = {}
    for argument in inspect.signature(function).parameters.values():
        annotation = hints[argument.name]
        taken = _taken(annotation)
        if taken is None:
            spread[argument.name] = argument.replace(
                annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY
            )
            continue
        group, what = taken
        parameters = what.parameters(group)
        groups[argument.name] = group, what, parameters
        spread |= {one.name: _argument(one) for one in parameters}

    @functools.wraps(function)
    def run(**values: Any) -> None:
        chosen = {
            argument: group(
                **what.fixed, **{one.name: _value(one, values.pop(one.name)) for one in parameters}
            )
            for argument, (group, what, parameters) in groups.items()
        }
        function(**values, **chosen)

    run.__signature__ = inspect.Signature(list(spread.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in spread.items()}
    return run


def _taken(annotation: Any) -> tuple[type[Options], Taken] | None:
    if get_origin(annotation) is not Annotated:
        return None
    kind, *extras = get_args(annotation)
    return next(((kind, one) for one in extras if isinstance(one, Taken)), None)


def _argument(parameter: Parameter) -> inspect.Parameter:
    """Return the argument of one option, as Typer reads it."""
    default: Any = parameter.default
    if parameter.words:
        default = next((word for word, value in parameter.words.items() if value == default), None)
        default = str(parameter.default) if default is None else default
    elif default is not None and int not in parameter.types and float in parameter.types:
        default = float(default)
    elif isinstance(default, str):
        default = str(default)
    kind = _kind(parameter)
    annotation = kind if default is not None else kind | None
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, _typer_option(parameter)],
    )


def _kind(parameter: Parameter) -> Any:
    if parameter.words or parameter.parse is not None:
        return str
    return next(kind for kind in parameter.types if kind is not type(None))


def _typer_option(
    parameter: Parameter, flags: tuple[str, ...] = (), *, show_default: bool | str = True
) -> Any:
    """Return the option; lower ends of ranges are Typer's to check, all else the library's."""
    kind = _kind(parameter)
    least = parameter.at_least if kind in (int, float) else None
    if kind is float and parameter.at_most is not None:
        least = None
    name = parameter.option
    usual = (f"{name}/--no-{name[2:]}",) if kind is bool else (name,)
    return typer.Option(
        *(flags or usual),
        help=parameter.help,
        min=least if least is None or kind is int else float(least),
        show_default=show_default,
        rich_help_panel=parameter.panel or None,
    )


def _value(parameter: Parameter, given: Any) -> Any:
    if isinstance(given, str) and (parameter.words or parameter.parse is not None):
        return parameter.read(given)
    return given
