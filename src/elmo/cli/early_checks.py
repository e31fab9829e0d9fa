"""What is checked of a verb's arguments before torch is imported or a model is loaded, which takes seconds.

Every path and model among the arguments has a role, told by the name of its field in `_ROLES`, or by an `As` in its
annotation where a verb means something else; a field of type Path without a role is an input. `parsed` calls `check`,
so no verb has to.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from glob import has_magic
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from elmo.disk.output import require_free, require_free_folder, require_possible
from elmo.errors import ConfigError, TextError, paths_count_from
from elmo.setting_checks import require_types
from elmo.text.files.text_file import check_is_text_file, is_stream, require_other_file, text_name

Role = Literal[
    "input",  # a file, a pipe, or - for standard input
    "file",  # an input that is read more than once, so neither a pipe nor standard input
    "input folder",  # whose content is checked by those who read it
    "prepared data",  # a folder of 'elmo prepare'
    "task model",  # a folder of 'elmo task train'
    "model",  # a biLM; None is the default one
    "language model",  # a biLM with a softmax; None as above
    "named model",  # a biLM; None: none is needed, or another argument says which
    "output file",
    "output folder",
    "kept folder",  # an output that may be there: a run to resume, a cache
    "run folder",  # of a pretraining: it may be there if it is resumed
    "unchecked",  # by the verb itself
]


@dataclass(frozen=True)
class As:
    """In an annotation, Annotated[Path, As("input folder")]: the role of a field."""

    role: Role


Flags = Mapping[str, Any]

# The flags that decide what may be there already, how a model is read, and whether its download is shown.
_SWITCHES = ("resume", "resume_if_begun", "join", "force", "options", "quiet")
# Of a field that is neither a path nor a group of settings; a model's name has its role by the name of its field.
_PLAIN = (bool, int, float, str)

_ROLES: dict[str, Role] = {
    "text": "input",
    "model": "model",
    "output": "output file",
    "per_token": "output file",
    "figure": "output file",
    "cache": "kept folder",
    "context2vec": "input folder",
    "cove": "input folder",
}


def check(arguments: object) -> None:
    """Raises the error of the first argument that can't be right: a number beyond all sense, no such input, an output
    in the way, no such model.

    Files that are read come first. TextError, OutputError, ConfigError or WeightFileError, as it would be raised later.
    One of several processes checks nothing here.
    """
    for group in _groups(arguments):
        require_types(group)
    if not _is_alone():
        return
    found = list(roles(arguments))
    _require_output_of_force(arguments, found)
    inputs = [value for _, role, value in found if role in ("input", "file")]
    for path in inputs:
        if not has_magic(str(path)):  # a pattern of names is for those who read the text
            check_is_text_file(path)
    for _, role, value in found:
        if role == "file":
            _require_read_again(value)
    flags = {name: getattr(group, name) for group in _groups(arguments) for name in _SWITCHES if hasattr(group, name)}
    for _, role, value in found:
        if role in _WITH_CONTENT:
            _WITH_CONTENT[role](value, flags)
    for _, role, value in found:
        if role in _OUTPUTS:
            require_possible(value)
            _OUTPUTS[role](value, flags)
            for one in inputs if role in ("output file", "output folder") else ():
                require_other_file(one, value, kind="input")
    _require_different({name: value for name, role, value in found if role == "output file"})
    for _, role, value in found:
        if role in _MODELS and not _needs_no_model(flags) and "options" not in flags:
            # Imported here, for the sake of verbs without a model.
            from elmo.weights.hub import resolve

            resolve(value, progress=not flags.get("quiet"))  # a published model is downloaded at its first use


def _require_output_of_force(arguments: object, found: Iterable[tuple[str, Role, Any]]) -> None:
    """ConfigError if something is to be replaced, but no output that could be is named."""
    groups = list(_groups(arguments))
    outputs = [
        name for group in groups for name, annotation in _annotations(group).items() if _is_output(name, annotation)
    ]
    is_forced = any(getattr(group, "force", False) for group in groups)
    if is_forced and outputs and not any(role in _OUTPUTS for _, role, _ in found):
        names = " or ".join(f"--{name.replace('_', '-')}" for name in outputs)
        raise ConfigError(
            f"--force was given without {names}, so there is no file or folder to replace. Add {names}, or leave "
            "--force out."
        )


def _is_output(name: str, annotation: Any) -> bool:
    return _role(name, annotation) in _OUTPUTS


def _require_read_again(path: Path) -> None:
    if is_stream(path):
        raise TextError(
            f"{text_name(path)}: can be read only once, as a stream, but this command reads it again for its SHA-256. "
            "Write it to a file first, and name that file."
        )


def _require_different(outputs: Mapping[str, Path]) -> None:
    names: dict[str, str] = {}
    for name, path in outputs.items():
        if (other := names.setdefault(os.path.realpath(path), name)) != name:
            raise ConfigError(
                f"--{other.replace('_', '-')} and --{name.replace('_', '-')} both name {path}, where one result would "
                "replace the other. Name two files."
            )


def _is_alone() -> bool:
    """Whether this is not one of several processes of torchrun.

    Those must agree on an error and report it once, which takes torch; and one of them could already see what another
    has begun to write.
    """
    return os.environ.get("WORLD_SIZE", "1") == "1"


def roles(arguments: object) -> Iterator[tuple[str, Role, Any]]:
    """Field, role and value of each path and model among the arguments, groups of settings included."""
    for group in _groups(arguments):
        if hasattr(group, "static_files"):
            yield from _roles_of_tokens(group)
            continue
        for name, annotation in _annotations(group).items():
            role = _role(name, annotation)
            value = None if role is None else getattr(group, name)
            is_asked_for = value is not None or role in ("model", "language model")
            if role is None or not is_asked_for or is_dataclass(value):
                continue
            for one in value if isinstance(value, tuple) else (value,):
                yield name, role, one


def _groups(arguments: object) -> Iterator[object]:
    """The arguments, then every group of settings among them."""
    yield arguments
    for name, annotation in _annotations(arguments).items():
        if annotation not in _PLAIN and is_dataclass(value := getattr(arguments, name)):
            yield from _groups(value)


def _annotations(group: object) -> dict[str, Any]:
    hints = get_type_hints(type(group), include_extras=True)
    return {field.name: hints[field.name] for field in fields(group)}  # type: ignore[arg-type] - all are dataclasses


def _role(name: str, annotation: Any) -> Role | None:
    """None: neither a path nor a model."""
    parts = list(_parts(annotation))
    for part in parts:
        if isinstance(part, As):
            return part.role
    if name in _ROLES:
        return _ROLES[name]
    return "input" if Path in parts else None


def _parts(annotation: Any) -> Iterator[Any]:
    """A type's parts, and what stands beside them in an Annotated."""
    yield annotation
    for part in (*get_args(annotation), *getattr(annotation, "__metadata__", ())):
        yield from _parts(part)


def _roles_of_tokens(tokens: Any) -> Iterator[tuple[str, Role, Any]]:
    """Of a task's `TokenSettings`."""
    for file in tokens.static_files.values():
        yield "static", "input", file
    if tokens.encoder == "elmo":
        yield "model", "model", tokens.model or None


def _check_folder(path: Path, _: Flags) -> None:
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "there is no such folder"
        raise ConfigError(f"{path}: {what}. {paths_count_from()}; check the spelling.")


def _check_prepared(path: Path, _: Flags) -> None:
    # Here, and in what follows, for the sake of verbs that don't need it.
    from elmo.corpus.shards import read_report

    read_report(path)


def _check_task_model(path: Path, _: Flags) -> None:
    from elmo.tasks.saved_config import CONFIG_FILE, read_config, saved_folder

    read_config(saved_folder(path) / CONFIG_FILE)


def _needs_no_model(flags: Flags) -> bool:
    """A run that is resumed has its own, and files of vectors are joined without one."""
    return bool(flags.get("resume") or flags.get("join"))


def _check_model(model: Any, flags: Flags) -> None:
    from elmo.weights.describe import outline

    if _needs_no_model(flags):
        return
    options = flags.get("options")
    outline(model if options is None or model is None else (options, model))


def _check_language_model(model: Any, flags: Flags) -> None:
    from elmo.weights.checkpoint import without_softmax
    from elmo.weights.describe import outline

    if not _needs_no_model(flags) and outline(model).has_softmax is False:
        raise without_softmax(model or "the default model")


def require_utf8(*names: object) -> None:
    """ConfigError for a name that is not UTF-8: answers in JSON could not say it."""
    for name in names:
        if name is not None and any("\ud800" <= letter <= "\udfff" for letter in str(name)):
            raise ConfigError(
                f"{str(name)!r}: the name is not UTF-8 text, so no answer could name it. Rename it, or make a link of "
                "another name to it and pass that."
            )


def check_language_model(model: str | None) -> None:
    """Raises unless there is such a model, and it has a softmax as far as its config tells."""
    _check_language_model(model, {})


def _check_kept_folder(folder: Path, _: Flags) -> None:
    if folder.exists():
        _check_folder(folder, {})


def _check_run_folder(folder: Path, flags: Flags) -> None:
    from elmo.pretrain.settings.checks import require_unused

    _check_kept_folder(folder, flags)
    if not flags.get("resume") and not flags.get("resume_if_begun"):
        require_unused(folder)


_MODELS = ("model", "language model", "named model")
_WITH_CONTENT: dict[Role, Callable[[Any, Flags], None]] = {
    "input folder": _check_folder,
    "prepared data": _check_prepared,
    "task model": _check_task_model,
    "model": _check_model,
    "language model": _check_language_model,
    "named model": _check_model,
}
_OUTPUTS: dict[Role, Callable[[Path, Flags], None]] = {
    "output file": lambda path, flags: require_free(path, force=bool(flags.get("force"))),
    "output folder": lambda path, flags: require_free_folder(path, force=bool(flags.get("force"))),
    "kept folder": _check_kept_folder,
    "run folder": _check_run_folder,
}
