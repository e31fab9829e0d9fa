"""Node: a JSON value that knows its place, so that every error names the file and the place in it."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from elmo.errors import TextError
from elmo.process.text_table import shortened
from elmo.text.word_list import has_surrogate

_MEMBERS_SHOWN = 10
_CHECK_LAYOUT = "Check its layout"

Kind = TypeVar("Kind")


class Node:
    """A value of a JSON file."""

    def __init__(self, value: object, source: str, place: str) -> None:
        """`source`: the file's name; `place`: of the value in it, like "data[0].title"."""
        self._value = value
        self.source = source
        self._place = place

    def named(self, name: str) -> "Node":
        """The same value with a name that readers of the file know it by."""
        return Node(self._value, self.source, f"{name} ({self._place})")

    def __contains__(self, key: str) -> bool:
        return key in self._of_kind(dict, "an object")

    def __getitem__(self, key: str) -> "Node":
        """The member of an object; TextError if there is none."""
        members = self._of_kind(dict, "an object")
        if key not in members:
            shown = ", ".join(map(repr, islice(members, _MEMBERS_SHOWN))) or "none"
            raise self.error(f"has no {key!r}; its members are: {shown}", _CHECK_LAYOUT)
        return Node(members[key], self.source, f"{self._place}.{key}" if self._place else key)

    def get(self, key: str) -> object:
        """The plain member of an object, or None."""
        return self._of_kind(dict, "an object").get(key)

    def members(self) -> Iterator[tuple[str, "Node"]]:
        """All members of an object, in the file's order."""
        for key in self._of_kind(dict, "an object"):
            yield key, Node(self._value[key], self.source, repr(key))  # type: ignore[index]

    def items(self) -> Iterator["Node"]:
        """The items of a list."""
        for number, item in enumerate(self._of_kind(list, "a list")):
            yield Node(item, self.source, f"{self._place}[{number}]")

    def string(self) -> str:
        """The value of a string, of whatever is in it."""
        return self._of_kind(str, "a string")

    def text(self) -> str:
        """The value of a string of characters; TextError if UTF-8 can't encode it."""
        found = self.string()
        if has_surrogate(found):
            raise self.error("has one half of a surrogate pair, which is not a character", "Fix or remove it")
        return found

    def whole_number(self) -> int:
        """The value of a whole number."""
        if isinstance(self._value, bool):
            raise self._unlike("a whole number")
        return self._of_kind(int, "a whole number")

    def error(self, what: str, step: str) -> TextError:
        """A complaint about this value."""
        return TextError(f"{self.source}: {self._place}{' ' if self._place else ''}{what}. {step}.")

    def _of_kind(self, kind: type[Kind], name: str) -> Kind:
        if not isinstance(self._value, kind):
            raise self._unlike(name)
        return self._value

    def _unlike(self, name: str) -> TextError:
        return self.error(f"must be {name} (got {shortened(json.dumps(self._value), 60)})", _CHECK_LAYOUT)


def parse_tree(rows: Iterable[str], source: str) -> Node:
    """The JSON value in the lines of a file called `source`. Raises TextError with the line."""
    lines = list(rows)
    try:
        return Node(json.loads("\n".join(lines)), source, "")
    except json.JSONDecodeError as error:
        raise TextError(
            f"{source}{f':{error.lineno}' if len(lines) > 1 else ''}: is not valid JSON ({error.msg} at column "
            f"{error.colno}). Check that it is whole."
        ) from None
    except (RecursionError, ValueError) as error:
        raise TextError(f"{source}: is JSON that can't be used: {error}. Get the file again.") from None
