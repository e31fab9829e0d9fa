"""A griffe extension: our form of docstrings -> Google's, which mkdocstrings draws as tables.

`name`: text            ->  a row of the table of parameters, if the signature has the name; else an item of a list
    "value"   text      ->  an item of a list in that row
<S>                     ->  the same characters, and not an element of HTML
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

import griffe

_ITEM = re.compile(r"(`\w+`(?:, `\w+`)*|\w+): (.*)")
_VALUE = re.compile(r'\s+("[\w-]+"|False|True|None)\s{2,}(.*)')
# What begins a new sentence about the whole after the last parameter.
_END = re.compile(r"(Returns|Raises|Gives|The result|The others|See|In carry mode|None:|Without)\b")
_CODE = re.compile(r"(`+[^`]*`+)")


def escaped(text: str) -> str:
    """The text with its `<` outside of code as characters."""
    parts = _CODE.split(text)
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts)


def as_google(text: str, parameters: Collection[str]) -> str:
    """A docstring in Google's form. `parameters`: the names of the signature."""
    lines: list[str] = []
    rows: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in escaped(text).splitlines():
        names = list(_names(line, parameters))
        if names:
            current = [_ITEM.fullmatch(line)[2]]  # type: ignore[index]
            if set(names) <= set(parameters):
                rows |= dict.fromkeys(names, current)
            else:
                lines += ["", f"- {line}"]
                current = None
        elif not line.strip() or _END.match(line):
            current = None
            lines.append(line)
        elif current is not None:
            current.append(_continued(line, current))
        else:
            lines.append(line)
    return "\n".join([*lines, *_table(rows)]).strip("\n")


def _names(line: str, parameters: Collection[str]) -> Iterator[str]:
    found = _ITEM.fullmatch(line)
    if found and (found[1].startswith("`") or found[1] in parameters):
        yield from re.findall(r"\w+", found[1])


def _continued(line: str, before: list[str]) -> str:
    """A further line of a row: text, or the item of a list, which begins after an empty line."""
    if not (value := _VALUE.fullmatch(line)):
        return line.strip()
    gap = "" if before[-1].lstrip().startswith("- ") else "\n"
    return f"{gap}- `{value[1]}`: {value[2]}"


def _table(rows: dict[str, list[str]]) -> list[str]:
    if not rows:
        return []
    lines = ["", "Args:"]
    for name, (first, *others) in rows.items():
        lines.append(f"    {name}: {first}")
        lines += [f"        {line}" if line else "" for other in others for line in other.split("\n")]
    return lines


class Docstrings(griffe.Extension):
    """Rewrites the docstring of every object that is loaded."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_google(obj.docstring.value, _parameters(obj))


def _parameters(obj: griffe.Object) -> set[str]:
    if isinstance(obj, griffe.Class):
        found = obj.members.get("__init__")
        return _parameters(found) if isinstance(found, griffe.Function) else set()
    return {it.name for it in obj.parameters} if isinstance(obj, griffe.Function) else set()
