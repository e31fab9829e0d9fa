"""What is checked of a verb's paths and models before torch is imported or a model is loaded, which takes seconds.

Every path and model among the arguments has a role: an `As` in its annotation, or the role of its name in `_ROLES`. Any
other field of type Path is an input. `parsed` calls `check`, so no verb has to.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from glob import has_magic
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from elmo.disk.output import require_free, require_free_folder, require_possible
from elmo.errors import ConfigError, TextError, paths_count_from
from elmo.setting_checks import require_types
from elmo.text.files.text_file import check_is_text_file, is_stream, require_other_file, text_name

# In the order in which they are checked: models last, because they may be downloaded.
Role = Literal[
    "unchecked",  # or by the verb itself
    "input",  # a file, a pipe, or - for standard input
    "file",  # an input that is read more than once, so neither a pipe nor standard input
    "input folder",  # whose content is checked by those who read it
    "kept folder",  # an output that may exist: a run to resume, a cache
    "output file",
    "output folder",
    "model",  # a biLM; None is the default one
    "named model",  # a biLM; None: none is needed, or another argument names it
]


@dataclass(frozen=True)
class As:
    """In an annotation, Annotated[Path, As("input folder")]: the role of a field."""

    role: Role


_OUTPUTS = ("output file", "output folder")
_ROLES: dict[str, Role] = {
    "model": "model",
    "output": "output file",
    "figure": "output file",
    "cache": "kept folder",
    "context2vec": "input folder",
    "cove": "input folder",
}


def check(arguments: object) -> None:
    """Raises the error of the first path or model that can't be right, as it would be raised later.

    One of several processes checks no path: they must agree on an error and report it once, which takes torch; and one
    of them could already see what another has begun to write.
    """
    groups = list(_groups(arguments))
    for group in groups:
        if not hasattr(group, "__post_init__"):  # which has checked itself
            require_types(group)
    if not is_alone():
        return
    force, quiet = (any(getattr(group, name, False) for group in groups) for name in ("force", "quiet"))
    found = list(roles(arguments))
    if force:
        _require_output(found)
    for _, role, value in sorted(found, key=lambda it: get_args(Role).index(it[1])):
        if value is not None or role == "model":
            _check(role, value, force=force, quiet=quiet)
        if role in _OUTPUTS and value is not None:
            for one in (one for _, its, one in found if its in ("input", "file") and one is not None):
                require_other_file(one, value, kind="input")


def is_alone() -> bool:
    """Whether this is not one of several processes of torchrun."""
    return os.environ.get("WORLD_SIZE", "1") == "1"


def roles(arguments: object) -> Iterator[tuple[str, Role, Any]]:
    """Field, role and value of each path and model among the arguments, groups of settings included."""
    for group in _groups(arguments):
        for name, role in declared_roles(type(group)):
            value = getattr(group, name)
            for one in value if isinstance(value, tuple) else (value,):
                yield name, role, one or None


def declared_roles(group: type) -> Iterator[tuple[str, Role]]:
    """The fields of a dataclass that are paths or models, with their roles."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        parts = list(_parts(hints[field.name]))
        marked: list[Role] = [part.role for part in parts if isinstance(part, As)]  # the last one wins, as with tyro's
        role: Role | None = marked[-1] if marked else _ROLES.get(field.name)
        if role is None and Path in parts:
            role = "input"
        if role is not None:
            yield field.name, role


def _groups(arguments: object) -> Iterator[Any]:
    """The arguments, then every group of settings among them."""
    yield arguments
    for field in fields(arguments):  # type: ignore[arg-type] - a dataclass
        if is_dataclass(value := getattr(arguments, field.name)):
            yield from _groups(value)


def _parts(annotation: Any) -> Iterator[Any]:
    """A type's parts, and the annotations of an Annotated."""
    yield annotation
    for part in (*get_args(annotation), *getattr(annotation, "__metadata__", ())):
        yield from _parts(part)


def _require_output(found: list[tuple[str, Role, Any]]) -> None:
    """ConfigError if none of the outputs that --force could replace is named."""
    outputs = {name: value for name, role, value in found if role in _OUTPUTS}
    if outputs and not any(outputs.values()):
        names = " or ".join(f"--{name.replace('_', '-')}" for name in outputs)
        raise ConfigError(
            f"--force was given without {names}, so there is no file or folder to replace. Add {names}, or leave "
            "--force out."
        )


def _check(role: Role, value: Any, *, force: bool, quiet: bool) -> None:
    match role:
        case "input" | "file":
            if not has_magic(str(value)):  # a pattern of names is for those who read the text
                check_is_text_file(value)
            if role == "file" and is_stream(value):
                raise TextError(
                    f"{text_name(value)}: can be read only once, as a stream, but this command reads it again for its "
                    "SHA-256. Write it to a file first, and name that file."
                )
        case "input folder":
            _require_folder(value)
        case "kept folder":
            require_possible(value)
            if value.exists():
                _require_folder(value)
        case "output file":
            require_possible(value)
            require_free(value, force=force)
        case "output folder":
            require_possible(value)
            require_free_folder(value, force=force)
        case "model" | "named model":
            _require_model(value, quiet=quiet)


def _require_folder(path: Path) -> None:
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "there is no such folder"
        raise ConfigError(f"{path}: {what}. {paths_count_from()}; check the spelling.")


def _require_model(model: Any, *, quiet: bool) -> None:
    # Here, for the sake of verbs without a model.
    from elmo.weights.describe import outline
    from elmo.weights.hub import resolve

    resolve(model, progress=not quiet)  # a published model is downloaded at its first use
    outline(model)


def check_tokens(tokens: Any, *, resume: bool, quiet: bool) -> None:
    """Of a task's `TokenSettings`: its files of static vectors, and its biLM, which a run to resume may not need."""
    for file in tokens.static_files.values():
        check_is_text_file(file)
    if tokens.encoder == "elmo" and not resume:
        _require_model(tokens.model or None, quiet=quiet)


def check_language_model(model: str | None) -> None:
    """Raises unless there is such a model, and it has a softmax as far as its config shows."""
    from elmo.weights.checkpoint import without_softmax
    from elmo.weights.describe import outline

    if outline(model).has_softmax is False:
        raise without_softmax(model or "the default model")
