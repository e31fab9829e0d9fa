"""Sets of documents become one text."""

import lzma
from collections import Counter

import pytest


@pytest.fixture
def sets(tmp_path):
    """Forty documents of two lines in each of two sets, a packed one and one without a column `set`; one isn't for
    training."""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        lines = [f"{name} {number} {part}" for number in range(40) for part in "ab"]
        rows = [
            "split\tdoc\tsource\tfirst_line\tlines",
            *(
                f"{'test' if number == 7 else 'train'}\t{name}/{number}\tbooks/{name}\t{2 * number + 1}\t2"
                for number in range(40)
            ),
        ]
        text, manifest = ("\n".join(part) + "\n" for part in (lines, rows))
        (folder / "train.txt").write_text(text, encoding="utf-8")
        (folder / "manifest.tsv.xz").write_bytes(lzma.compress(manifest.encode()))
    return [str(tmp_path / "one"), str(tmp_path / "two")]


@pytest.fixture
def mixed(script, tmp_path):
    """The lines that sets become, given with flags as on the command line."""

    def mixed(*arguments):
        assert script.main([str(tmp_path / "out.txt"), *arguments]) == 0
        return (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()

    return mixed


def test_documents_of_all_sets_stand_whole_in_one_order(mixed, sets):
    lines = mixed(*sets)
    assert len(lines) == 2 * 2 * 39
    assert not [line for line in lines if " 7 " in line]
    assert [line[:-1] for line in lines[::2]] == [line[:-1] for line in lines[1::2]]
    assert lines == mixed(*reversed(sets))
    assert {line.split()[0] for line in lines[:20]} == {"one", "two"}


def test_a_share_takes_the_same_documents_of_that_source_each_time(mixed, sets):
    whole = mixed(*sets)
    half = mixed(*sets, "--share", "books/one=0.5")
    taken = [line for line in half if line.startswith("one")]
    assert 10 < len(taken) < 60
    assert set(half) == {line for line in whole if line.startswith("two")} | set(taken)
    quarter = mixed(*sets, "--share", "books/one=0.25")
    assert set(quarter) < set(half)


def test_a_set_named_twice_is_taken_twice(mixed, sets):
    assert sorted(mixed(sets[0], sets[0])) == sorted(2 * mixed(sets[0]))


def test_a_share_above_one_repeats_documents_elsewhere(mixed, sets):
    once = mixed(*sets)
    half = {line for line in mixed(*sets, "--share", "books/one=0.5") if line.startswith("one")}
    lines = mixed(*sets, "--share", "books/one=2.5")
    times = Counter(line for line in lines if line.startswith("one"))
    assert set(times) == {line for line in once if line.startswith("one")}
    assert set(times.values()) == {2, 3}
    assert {line for line, count in times.items() if count == 3} != half
    assert [line for line in lines if line.startswith("two")] == [line for line in once if line.startswith("two")]
    assert sum(first == second for first, second in zip(lines, lines[2:], strict=False)) < 10


@pytest.mark.parametrize(
    ("share", "message"),
    [
        *((share, f"--share {share}: no SOURCE=SHARE") for share in ("books", "=0.5", "books=11", "books=half")),
        ("boks=3", "--share boks=...: no source begins like this. The sets have books/one, books/two."),
    ],
)
def test_a_share_that_is_none_is_refused(script, tmp_path, sets, share, message, capsys):
    assert script.main([str(tmp_path / "out.txt"), *sets, "--share", share]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.txt").exists()


def test_the_longest_beginning_of_a_source_decides_its_share(mixed, sets):
    lines = mixed(*sets, "--share", "books=0", "--share", "books/one=2")
    assert sorted(lines) == sorted(2 * [line for line in mixed(*sets) if line.startswith("one")])


def test_the_folder_one_is_in_is_a_set_too(mixed, tmp_path, sets, monkeypatch):
    manifest = tmp_path / "one" / "manifest.tsv.xz"
    header, *rows = lzma.decompress(manifest.read_bytes()).decode().splitlines()
    text = "\n".join([f"set\t{header}", *(f"one\t{row}" for row in rows)])
    manifest.write_bytes(lzma.compress(text.encode()))
    monkeypatch.chdir(tmp_path / "one")
    assert mixed(".") == mixed(sets[0]) != []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("train\td\tbooks\t79\t3", ":42: says that d has 3 lines from line 79 on, but the text has 80 lines"),
        ("train\td\tbooks\t0\t2", ":42: says that d has 2 lines from line 0 on"),
        ("train\td\tbooks\t5\t0", ":42: says that d has 0 lines"),
        ("train\td\tbooks\tfive\t2", ":42: no row of 5 columns with numbers of lines"),
        ("train\td", ":42: no row of 5 columns"),
    ],
)
def test_a_row_of_the_manifest_that_the_text_has_not_is_named(script, tmp_path, sets, row, message, capsys):
    manifest = tmp_path / "one" / "manifest.tsv.xz"
    manifest.write_bytes(lzma.compress(lzma.decompress(manifest.read_bytes()).rstrip(b"\n") + f"\n{row}\n".encode()))
    (tmp_path / "out.txt").write_text("before\n")
    assert script.main([str(tmp_path / "out.txt"), *sets]) == 2
    assert f"manifest.tsv.xz{message}" in capsys.readouterr().err
    assert (tmp_path / "out.txt").read_text() == "before\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("one", "manifest.tsv:1: has no column 'first_line', only split, doc, lines"),
        (".", "has neither train.txt nor train.txt.xz"),
    ],
)
def test_a_manifest_without_a_column_and_a_folder_that_is_no_set_are_named(
    script, tmp_path, sets, capsys, name, message
):
    (tmp_path / "one" / "manifest.tsv").write_text("split\tdoc\tlines\n")
    assert script.main([str(tmp_path / "out.txt"), str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err
