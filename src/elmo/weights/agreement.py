"""Agreement: the names and shapes a file holds against those its config asks for."""

from collections.abc import Iterable, Mapping

from elmo.disk.bounded import shown
from elmo.errors import WeightFileError
from elmo.weights.shapes import Shape


def require_agreement(
    found: Mapping[str, Shape], expected: Iterable[tuple[str, Shape]], *, file: str, asked_by: str, kind: str
) -> None:
    """Raises WeightFileError unless `found` has exactly the `expected` names and shapes.

    `file` holds them, `asked_by` is the file that expects them, `kind` is what the format calls them ("tensor",
    "dataset"). `expected` may be a generator: it is read no further than the first name that isn't there, so a
    damaged config that asks for a million layers costs nothing.
    """
    wanted = set()
    for name, shape in expected:
        wanted.add(name)
        if name not in found:
            raise WeightFileError(
                f"{file}: {kind} {name!r} is missing, {asked_by} asks for it with shape {shape}: the file is "
                f"incomplete, or these files belong to different models. It has {len(found)} {kind}s. Get the file "
                f"again or pass the matching {asked_by}."
            )
        if found[name] != shape:
            raise WeightFileError(
                f"{file}: {kind} {shown(name, 99)} has shape {shown(found[name])}, {asked_by} asks for {shape}: these "
                f"files belong to different models. Run 'elmo inspect {file}' or pass the matching {asked_by}."
            )
    if extra := sorted(set(found) - wanted):
        raise WeightFileError(
            f"{file}: {kind} {shown(extra[0], 99)} with shape {shown(found[extra[0]])} is not part of the model that "
            f"{asked_by} describes ({len(extra)} such {kind}s): these files belong to different models. Pass the "
            f"matching {asked_by}."
        )
