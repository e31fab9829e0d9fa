"""Checks the library in each wheel of a folder, for whatever system it is: .ci/wheels runs this with lief installed.

python .ci/wheel_contents.py FOLDER
"""

import sys
from pathlib import Path
from zipfile import ZipFile

import lief

IN_WHEEL = "elmo/ops/native/_native.so"
# By the end of the wheel's name: the file's format, its processor, and the libraries that the system must have.
WANTED = {
    "win_amd64": ("PE", "AMD64", ("kernel32.dll", "api-ms-win-")),
    "win_arm64": ("PE", "ARM64", ("kernel32.dll", "api-ms-win-")),
    "macosx_11_0_x86_64": ("MACHO", "X86_64", ("libsystem",)),
    "macosx_11_0_arm64": ("MACHO", "ARM64", ("libsystem",)),
    "x86_64": ("ELF", "X86_64", ("libm.so.6", "libc.so.6")),
    "aarch64": ("ELF", "AARCH64", ("libm.so.6", "libc.so.6")),
}


def main(folder: Path) -> None:
    """Exits with what is wrong."""
    exports: dict[str, set[str]] = {}
    for wheel in sorted(folder.glob("*.whl")):
        names = [name for name in ZipFile(wheel).namelist() if name.startswith("elmo/ops/native/")]
        built = [name for name in names if not name.endswith((".py", ".c", ".h", "/"))]
        if wheel.stem.endswith("-any"):
            refuse_unless(built == [], wheel, f"the wheel for every system holds {built}")
            continue
        refuse_unless(built == [IN_WHEEL], wheel, f"beside the sources it holds {built}, not {IN_WHEEL} alone")
        tag, (form, processor, libraries) = next(one for one in WANTED.items() if wheel.stem.endswith(one[0]))
        library = lief.parse(ZipFile(wheel).read(IN_WHEEL))
        found = form_of(library), processor_of(library)
        refuse_unless(found == (form, processor), wheel, f"the library is for {found}, not {form} on {processor}")
        needed = {Path(name).name.lower() for name in needed_by(library)} - {IN_WHEEL.rpartition("/")[2]}
        strange = {name for name in needed if not name.startswith(libraries)}
        refuse_unless(not strange, wheel, f"the library needs {strange}")
        functions = {name.lstrip("_") for name in exported_by(library)}
        exports[wheel.name] = {name for name in functions if name.startswith("elmo_")}
        if form == "MACHO" and processor == "ARM64":
            refuse_unless(library.has_code_signature, wheel, "macOS on ARM loads no library without a signature")
        print(f"{wheel.stat().st_size / 1e6:5.1f} MB  {wheel.name}: {form}, {processor}, {len(functions)} functions")
    first = next(iter(exports.values()))
    for name, found in exports.items():
        refuse_unless(found == first and first, Path(name), f"functions differ: {found ^ first}")


def refuse_unless(is_right: bool, wheel: Path, problem: str) -> None:
    """Ends with the problem."""
    if not is_right:
        sys.exit(f"{wheel.name}: {problem}")


def form_of(library: lief.Binary) -> str:
    """ELF, PE or MACHO."""
    return library.format.name.upper()


def processor_of(library: lief.Binary) -> str:
    """As the format names it."""
    header = library.header
    kind = getattr(header, "machine_type", None) or getattr(header, "machine", None) or header.cpu_type
    return kind.name.upper()


def needed_by(library: lief.Binary) -> list[str]:
    """The libraries that it asks for."""
    return [one if isinstance(one, str) else one.name for one in library.libraries]


def exported_by(library: lief.Binary) -> list[str]:
    """The functions that it offers."""
    return [function.name for function in library.exported_functions]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
