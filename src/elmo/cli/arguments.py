"""How every verb reads its arguments: one metavar and one default for each option, and examples.

A verb's arguments are a dataclass, which `parsed` fills from the command line.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import tyro
from tyro.constructors import (
    MISSING,
    MISSING_NONPROP,
    ConstructorRegistry,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from elmo.cli.examples import EXAMPLES, examples_of
from elmo.errors import ConfigError
from elmo.process.device import Device
from elmo.setting_checks import require_types
from elmo.text.files.text_file import require_other_file

A = TypeVar("A")
T = TypeVar("T")

Switch = tyro.conf.FlagCreatePairsOff[bool]
"""Has no --no-x, even in verbs whose settings have one."""

# Options of several verbs.
OutputFile = Annotated[T, tyro.conf.arg(aliases=["-o"], metavar="OUT")]
OutputFolder = Annotated[T, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")]
ModelOption = Annotated[
    str | None,
    tyro.conf.arg(
        aliases=["-m"],
        metavar="MODEL",
        help="A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model).",
    ),
]
LanguageModelOption = Annotated[
    str | None,
    tyro.conf.arg(
        aliases=["-m"],
        metavar="MODEL",
        help="A name, a folder or file, or a hub id; it needs a softmax (default: $ELMO_MODEL, or the bundled model).",
    ),
]
DeviceOption = Annotated[Device, tyro.conf.arg(help="Where to compute. auto: on a GPU if there is one.")]
TokenizerChoice = Annotated[
    Literal["auto", "whitespace", "unicode"],
    tyro.conf.arg(
        help="How a line is split into tokens. whitespace: at its spaces; unicode: by rules, for text that isn't "
        "tokenized; auto: as the text shows."
    ),
]
BilmDtype = Annotated[
    Literal["float32", "bfloat16", "int8", "auto"],
    tyro.conf.arg(help="Precision of matrix products. auto: bfloat16 if this processor is fast with it, else float32."),
]
Force = Annotated[Switch, tyro.conf.arg(help="Replace an existing output.")]
ReportAsJson = Annotated[Switch, tyro.conf.arg(help="Print the report as JSON.")]
NoReport = Annotated[Switch, tyro.conf.arg(help="Show no progress and no report.")]
NoProgress = Annotated[Switch, tyro.conf.arg(help="Show no progress.")]

# By the name of the option, for settings of the library; tyro.conf.arg(metavar=...) of a verb wins.
_METAVARS = {
    "text": "TEXT",
    "data": "DATA",
    "cache": "FOLDER",
    "old": "TEXT",
    "mirror": "ADDRESS [ADDRESS ...]",
    "model": "MODEL",
    "valid": "TEXT [TEXT ...]",
    "layers": "LAYERS",
    "vocabulary": "VOCABULARY",
    "static": "VECTORS [VECTORS ...]",
    "best_by": "SCORE",
    "task": "TASK",
    "filters": "WIDTH NUMBER [WIDTH NUMBER ...]",
}
_METAVARS_OF_TYPES = {Path: "FILE", str: "NAME", int: "INT", float: "FLOAT"}
_OUTPUTS = ("output", "figure", "per_token", "export", "single_file")
_LONG_NAMES = {"-m": "--model", "-o": "--output"}


class _Values(SimpleNamespace):
    """The values of settings that are made later."""


def parsed(
    arguments: type[A],
    argv: list[str],
    verb: str,
    *,
    flag_pairs: bool = False,
    default: A | None = None,
    settings_later: bool = False,
    program: str = "elmo",
    examples: Mapping[str, Sequence[str]] = EXAMPLES,
) -> A:
    """`argv` as the dataclass `arguments`, as `elmo VERB` takes it; `default` holds the values that no flag gives.

    flag_pairs: whether every switch has two flags, --x and --no-x, unless its annotation says otherwise.
    settings_later: leave settings that check themselves (`__post_init__`) as namespaces of their values, for
    `overridden`: beside the settings of a file, other values make sense than beside the defaults.
    program, examples: of another command than `elmo`.
    Exits: SystemExit(2) after a message for arguments that don't fit, SystemExit(0) after --help. Raises
    ConfigError for an argument without a value, and for an output that is one of the inputs.
    """
    found: Any = tyro.cli(
        arguments,
        args=argv,
        prog=f"{program} {verb}",
        description=_description(arguments, examples_of(verb, examples)),
        config=(tyro.conf.OmitArgPrefixes, *(() if flag_pairs else (tyro.conf.FlagCreatePairsOff,))),
        default=default,
        registry=_registry(settings_later),
    )
    given = given_options(argv)
    for field in fields(found):
        option = f"--{field.name.replace('_', '-')}"
        is_needed = option in given or field.default is field.default_factory is NO_DEFAULT
        if is_needed and getattr(found, field.name) == ():  # which tyro takes
            what = field.name.replace("_", " ")
            raise ConfigError(f"{what}: no value was given. Add one; '{program} {verb} --help' shows what it takes.")
    require_types(found)
    _require_own_outputs(found)
    return found


def _require_own_outputs(arguments: object) -> None:
    """ConfigError if --force would replace a file that is read by what is made of it."""
    values = list(_values(arguments))
    if ("force", True) not in values:
        return
    outputs = [value for name, value in values if name in _OUTPUTS and value is not None]
    inputs = [value for name, value in values if name not in _OUTPUTS]
    for one in (one for value in inputs for one in (value if isinstance(value, tuple) else (value,))):
        for output in outputs if isinstance(one, str | Path) else ():
            require_other_file(one, output, kind="input")


def _values(arguments: object) -> Iterator[tuple[str, Any]]:
    """Each argument by its name, those of groups of settings too."""
    for field in fields(arguments):  # type: ignore[arg-type] - a dataclass
        value = getattr(arguments, field.name)
        yield from _values(value) if is_dataclass(value) else [(field.name, value)]


def given_options(argv: Sequence[str]) -> list[str]:
    """The long names of the options in `argv`, with hyphens, each once and in their order, whatever their values.

    A value that equals the default counts as given too: whoever writes --store float32 wants float32.
    """
    given: dict[str, None] = {}
    for word in argv:
        if word == "--":  # only positional arguments follow
            break
        if word.startswith("--"):
            given[word.partition("=")[0].replace("_", "-")] = None
        elif word[:2] in _LONG_NAMES:  # -o OUT or -oOUT
            given[_LONG_NAMES[word[:2]]] = None
    return list(given)


def overridden(settings: T, values: Any, given: Collection[str]) -> T:
    """`settings` with those of `values` whose options were given. Both may be groups of settings."""
    changes = {}
    for field in fields(settings):  # type: ignore[arg-type] - a dataclass
        own, value = getattr(settings, field.name), getattr(values, field.name)
        name = field.name.replace("_", "-")
        if is_dataclass(own):
            changes[field.name] = overridden(own, value, given)
        elif f"--{name}" in given or f"--no-{name}" in given:
            changes[field.name] = value
    return replace(settings, **changes)  # type: ignore[type-var]


def _description(arguments: type[object], examples: str) -> str:
    paragraphs = ((get_origin(arguments) or arguments).__doc__ or "").split("\n\n")
    return "\n\n".join([*(" ".join(paragraph.split()) for paragraph in paragraphs), examples])


def _registry(settings_later: bool) -> ConstructorRegistry:
    """tyro's own rules, with our metavars and defaults for the fields of dataclasses."""
    registry = ConstructorRegistry()
    is_asking = False

    @registry.struct_rule
    def documented(info: StructTypeInfo) -> StructConstructorSpec | None:
        nonlocal is_asking
        if is_asking:  # by the line below: tyro's own rule shall answer
            return None
        is_asking = True
        try:
            found = ConstructorRegistry.get_struct_spec(info)
        finally:
            is_asking = False
        if not isinstance(found, StructConstructorSpec):
            return None
        is_later = settings_later and hasattr(info.type, "__post_init__")
        make = _Values if is_later else found.instantiate
        return StructConstructorSpec(make, tuple(map(_documented, found.fields)))

    return registry


def _documented(field: StructFieldSpec) -> StructFieldSpec:
    def help_text() -> str:
        text = field.helptext() if callable(field.helptext) else field.helptext
        return " ".join((text or "").split())  # tyro keeps line breaks before a digit or a quote

    def hint(default: str) -> str:
        """What is shown after an option's help: its default, unless the help names it or there is none."""
        if field.default is MISSING or field.default is MISSING_NONPROP:  # positional arguments of any number
            return "(required)"
        return "" if "(default" in help_text() or default in ("None", "", "''") else f"(default: {default})"

    bare, *annotations = get_args(field.type) if get_origin(field.type) is Annotated else (field.type,)
    own = tyro.conf.arg(metavar=_metavar(field.name, bare), help_behavior_hint=hint)
    # The last annotation wins: the verb's.
    return replace(field, type=Annotated[(bare, own, *annotations)], helptext=help_text)


def _metavar(name: str, annotation: object) -> str | None:
    """None: tyro's own."""
    options = [option for option in get_args(annotation) if option is not NoneType]
    if get_origin(annotation) in (Union, UnionType) and len(options) == 1:
        annotation = options[0]
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Literal:
        return "{" + ",".join(map(str, get_args(annotation))) + "}"
    if get_origin(annotation) is tuple:
        of_one = _metavar("", get_args(annotation)[0])
        return _METAVARS.get(name) or (of_one and f"{of_one} [{of_one} ...]")
    of_type = _METAVARS_OF_TYPES.get(annotation) if isinstance(annotation, type) else None
    return of_type and (_METAVARS.get(name) or of_type)
