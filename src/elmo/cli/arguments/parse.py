"""How every verb reads its arguments: the same metavars, one default for each option, and examples in its --help."""

from collections.abc import Callable
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Literal, TypeVar, Union, get_args, get_origin

import tyro
from tyro.constructors import (
    MISSING,
    MISSING_NONPROP,
    ConstructorRegistry,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from elmo.cli.arguments.given_options import given_options
from elmo.cli.early_checks import check
from elmo.cli.examples import examples_of

A = TypeVar("A")

# By the name of the option, alike in all verbs. Where a verb needs another one, its tyro.conf.arg(metavar=...) wins.
_METAVARS = {
    "model": "MODEL",
    "output": "OUT",
    "text": "TEXT",
    "data": "DATA",
    "cache": "FOLDER",
    "old": "TEXT",
    "valid": "TEXT [TEXT ...]",
    "layers": "LAYERS",
    "vocabulary": "VOCABULARY",
    "static": "VECTORS [VECTORS ...]",
    "best_by": "SCORE",
    "task": "TASK",
    "filters": "WIDTH NUMBER [WIDTH NUMBER ...]",
}
_METAVARS_OF_TYPES = {Path: "FILE", str: "NAME", int: "INT", float: "FLOAT"}


def parsed(
    arguments: type[A],
    argv: list[str],
    verb: str,
    *,
    flag_pairs: bool = False,
    default: A | None = None,
    is_final: bool = True,
    checks_values: bool = True,
    require_sense: Callable[[A, list[str]], None] | None = None,
) -> A:
    """`argv` as the dataclass `arguments`, as `elmo VERB` takes it; `default` holds the values that no flag gives.

    flag_pairs: whether what is on or off has two flags, --x and --no-x, unless its annotation says otherwise.
    is_final: whether these are the arguments that the verb will run with, so that their paths and models are checked
    (see `early_checks`). checks_values: whether settings with a `__post_init__` are made, or only namespaces of their
    values; not before the defaults are those of a file that the arguments name, beside which other flags make sense.
    require_sense: called before paths are checked, with the arguments and the names of the options that were given;
    raises for those that make no sense together. Exits: SystemExit(2) after a message for arguments that don't fit,
    SystemExit(0) after --help. Raises an ElmoError for inputs, outputs and models that can't be right.
    """
    found = tyro.cli(
        arguments,
        args=argv,
        prog=f"elmo {verb}",
        description=_description(arguments, verb),
        config=(tyro.conf.OmitArgPrefixes, *(() if flag_pairs else (tyro.conf.FlagCreatePairsOff,))),
        default=default,
        registry=_registry(checks_values),
    )
    if require_sense is not None:
        require_sense(found, given_options(argv))  # pyright: ignore[reportArgumentType] - as below
    if is_final:
        check(found)
    return found  # pyright: ignore[reportReturnType] - `default=None` says that there is none


def _description(arguments: type[object], verb: str) -> str:
    paragraphs = ((get_origin(arguments) or arguments).__doc__ or "").split("\n\n")
    return "\n\n".join([*(" ".join(paragraph.split()) for paragraph in paragraphs), examples_of(verb)])


def _registry(checks_values: bool) -> ConstructorRegistry:
    """tyro's own rules, with our metavars, help and defaults for the fields of dataclasses.

    `checks_values`: whether dataclasses that check their values are made; otherwise, bare namespaces of them are.
    """
    registry = ConstructorRegistry()
    is_asking = False

    @registry.struct_rule
    def documented(info: StructTypeInfo) -> StructConstructorSpec | None:
        nonlocal is_asking
        if is_asking:  # by the line below: the rule that comes after this one shall answer
            return None
        is_asking = True
        try:
            found = ConstructorRegistry.get_struct_spec(info)
        finally:
            is_asking = False
        if not isinstance(found, StructConstructorSpec):
            return None
        is_checked = hasattr(info.type, "__post_init__")
        make = SimpleNamespace if is_checked and not checks_values else found.instantiate
        return StructConstructorSpec(make, tuple(map(_documented, found.fields)))

    return registry


def _documented(field: StructFieldSpec) -> StructFieldSpec:
    def help_text() -> str:
        text = field.helptext() if callable(field.helptext) else field.helptext
        # The lines of a docstring end where the source does, not where the help does.
        return " ".join((text or "").split())

    bare, *annotations = get_args(field.type) if get_origin(field.type) is Annotated else (field.type,)
    own = tyro.conf.arg(metavar=_metavar(field.name, bare), help_behavior_hint=_hint(help_text, field.default))
    annotated = Annotated[(bare, own, *annotations)]  # the last one wins: what the verb says
    return StructFieldSpec(field.name, annotated, field.default, help_text)  # type: ignore[arg-type]


def _hint(help_text: Callable[[], str], default_value: object) -> Callable[[str], str]:
    """What is shown after the help of an option: its default, unless the help says it or there is none."""

    def hint(default: str) -> str:
        if default_value is MISSING or default_value is MISSING_NONPROP:  # positional arguments of any number
            return "(required)"
        is_said = "(default" in help_text()
        return "" if is_said or default in ("None", "", "''") else f"(default: {default})"

    return hint


def _metavar(name: str, annotation: object) -> str | None:
    """None: tyro's own."""
    options = [option for option in get_args(annotation) if option is not NoneType]
    if get_origin(annotation) in (Union, UnionType) and len(options) == 1:
        annotation = options[0]
    if get_origin(annotation) is Literal:
        return "{" + ",".join(map(str, get_args(annotation))) + "}"
    if get_origin(annotation) is tuple:
        of_one = _metavar("", get_args(annotation)[0])
        return _METAVARS.get(name) or (of_one and f"{of_one} [{of_one} ...]")
    of_type = _METAVARS_OF_TYPES.get(annotation) if isinstance(annotation, type) else None
    return of_type and (_METAVARS.get(name) or of_type)
