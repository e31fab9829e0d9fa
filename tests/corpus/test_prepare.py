"""Preparing data: formats, held-out documents, several processes, interruptions."""

import codecs
import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elmo.corpus import parts
from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.disk import folder_lock
from elmo.errors import ConfigError, ElmoError, Interrupted, OutputError, TextError
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.weights.catalogue import bundled_folders

WORDS = ["the", "cat", "sat", "on", "a", "mat", "while", "밥", "을", "먹었다", ",", "and", "then", "it", "slept", "."]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that small texts have many parts."""
    monkeypatch.setattr("elmo.corpus.prepare.BLOCK_BYTES", 300)


@pytest.fixture
def corpus(tmp_path) -> Path:
    """80 documents of a few sentences."""
    random = np.random.default_rng(1)
    documents = [
        "\n".join(" ".join(random.choice(WORDS, random.integers(1, 9))) + f" w{number}" for _ in range(5))
        for number in range(80)
    ]
    path = tmp_path / "corpus.txt"
    path.write_text("\n\n".join(documents) + "\n", encoding="utf-8")
    return path


def restored(folder: Path, split: str = "train") -> list[str]:
    data = TrainingData.open(folder)
    types = data.types()
    return [
        " ".join(types[number] for number in shard.sentence(index))
        for shard in data.shards(split)
        for index in range(shard.num_sentences)
    ]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def documents_of(corpus: Path) -> list[list[str]]:
    return [document.splitlines() for document in corpus.read_text(encoding="utf-8").strip().split("\n\n")]


# Formats


def test_every_format_gives_the_same_sentences(tmp_path):
    sentences = [["New", "words", "."], ["밥", "을"]] * 30
    (tmp_path / "a.txt").write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    rows = [{"text": " ".join(words)} if len(words) == 2 else {"text": words} for words in sentences]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    trees = [
        "# newpar\n" + "".join(f"{number}\t{word}" + "\t_" * 8 + "\n" for number, word in enumerate(words, start=1))
        for words in sentences
    ]
    (tmp_path / "a.conllu").write_text("\n".join(trees), encoding="utf-8")
    for name in ("a.txt", "a.jsonl", "a.conllu"):
        prepare([tmp_path / name], tmp_path / f"{name}.data")
        assert restored(tmp_path / f"{name}.data") == [" ".join(words) for words in sentences]
    prepare([tmp_path / "a.txt", tmp_path / "a.jsonl", tmp_path / "a.conllu"], tmp_path / "all")
    assert restored(tmp_path / "all") == [" ".join(words) for words in sentences] * 3


def test_texts_are_read_in_the_form_in_which_a_model_reads_them_later(tmp_path):
    apart = [unicodedata.normalize("NFD", "밥을 먹었다"), "ব\u09df\u09b8"]
    (tmp_path / "a.txt").write_text("".join(text + "\n" for text in apart), encoding="utf-8")
    rows = [{"text": text} for text in apart] + [{"text": text.split()} for text in apart]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    prepare([tmp_path / "a.txt", tmp_path / "a.jsonl"], tmp_path / "data")
    assert restored(tmp_path / "data") == [unicodedata.normalize("NFC", text) for text in apart] * 3


RAW = "Mr. Brown left.\nHe was\nill. So sad.\n\nNext one\nends here"


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ("lines", ["Mr. Brown left .", "He was", "ill . So sad .", "Next one", "ends here"]),
        ("within-lines", ["Mr. Brown left .", "He was", "ill .", "So sad .", "Next one", "ends here"]),
        ("across-lines", ["Mr. Brown left .", "He was ill .", "So sad .", "Next one ends here"]),
    ],
)
def test_raw_text_has_its_sentences_split_from_files_and_from_json(tmp_path, sentences, expected):
    (tmp_path / "raw.txt").write_text(RAW)
    (tmp_path / "raw.jsonl").write_text(json.dumps({"body": RAW}) + "\n")
    settings = CorpusSettings(tokenizer="unicode", sentences=sentences)
    report = prepare([tmp_path / "raw.txt"], tmp_path / "text", settings)
    assert restored(tmp_path / "text") == expected
    assert report["splits"]["train"]["blank_lines"] == 1
    prepare([tmp_path / "raw.jsonl"], tmp_path / "json", replace(settings, field="body"))
    assert restored(tmp_path / "json") == expected


def test_a_models_vocabulary_is_taken_by_its_name(tmp_path):
    (tmp_path / "text.txt").write_text("the bank was steep .\n")
    report = prepare(tmp_path / "text.txt", tmp_path / "data", CorpusSettings(vocabulary="small-en"))
    given = bundled_folders()["small-en"] / "vocab.txt"
    assert report["settings"]["vocabulary"] == str(given)
    assert (tmp_path / "data" / "vocab.txt").read_bytes() == given.read_bytes()


def test_a_paragraph_that_has_no_end_is_cut_at_line_ends(tmp_path):
    (tmp_path / "raw").write_text("some words of a line\n" * 500)
    prepare([tmp_path / "raw"], tmp_path / "data", CorpusSettings(sentences="across-lines"))
    assert " ".join(restored(tmp_path / "data")) == " ".join(["some words of a line"] * 500)
    assert 1 < len(restored(tmp_path / "data")) < 20


def test_bad_lines_of_all_formats_are_counted_once_and_part_nothing(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one line\nbad \xff\nof two .\n\nnext\n")
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "ok"}\n{"text": 1}\nbad \xff\n\n')
    (tmp_path / "a.conllu").write_bytes(b"1\ta\n\n1\tgood" + b"\t_" * 8 + b"\n\n1\t\xff" + b"\t_" * 8 + b"\n")
    files = [tmp_path / name for name in ("a.txt", "a.jsonl", "a.conllu")]
    report = prepare(files, tmp_path / "data", CorpusSettings(errors="skip", sentences="across-lines"))
    assert restored(tmp_path / "data") == ["one line of two .", "next", "ok", "good"]
    assert report["splits"]["train"]["bad_lines"] == 5
    assert report["splits"]["train"]["blank_lines"] == 2
    places = [message.split(" ")[0].removeprefix(str(tmp_path)) for message in report["bad_lines"]]
    assert places == ["/a.txt:2:", "/a.jsonl:2:", "/a.jsonl:3:", "/a.conllu:1:", "/a.conllu:5:"]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_bad_line_stops_a_strict_run_whoever_reads_it(tmp_path, workers):
    lines = ['{"text": "a few words in a row"}\n'] * 100
    (tmp_path / "a.jsonl").write_text("".join([*lines, "{]\n", *lines, '{"no": 1}\n', *lines]))
    with pytest.raises(TextError, match="a.jsonl:101: not valid JSON"):
        prepare([tmp_path / "a.jsonl"], tmp_path / "data", workers=workers)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]


def test_a_hostile_text_is_read_or_named(tmp_path):
    lines = [
        b"\0",
        b"x" * 1_000_000,
        b"w " * 100_000,
        "👩‍👩‍👧 \u202eabc\u2028d".encode(),
        b"\xed\xa0\x80",
        b"a\r",
        b"\xc3",
    ]
    (tmp_path / "hostile").write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    report = prepare([tmp_path / "hostile"], tmp_path / "data", CorpusSettings(errors="skip"))
    assert [message.split(" ")[0].rpartition("/")[2] for message in report["bad_lines"]] == ["hostile:5:", "hostile:7:"]
    assert restored(tmp_path / "data") == [
        "\0",
        "x" * 1_000_000,
        " ".join("w" * 100_000),
        "👩‍👩‍👧 \u202eabc d",
        "a",
    ]
    assert report["splits"]["train"]["truncated_tokens"] == 1


# Tokenizers


TOKENIZERS = """
def letters(text):
    return list(text.replace(" ", ""))

def failing(text):
    return text.split() if len(text) > 5 else 1 / 0

def joined(text):
    return text.lower()

def spaces(text):
    return text.split("w")

def numbers(text):
    return [1, 2]
"""


@pytest.fixture
def tokenizers(tmp_path, monkeypatch):
    (tmp_path / "own_tokens.py").write_text(TOKENIZERS)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_tokenizer_of_the_users_own_is_used_by_name(tmp_path, corpus, tokenizers, workers):
    report = prepare([corpus], tmp_path / "data", CorpusSettings(tokenizer="own_tokens:letters"), workers=workers)
    assert restored(tmp_path / "data")[0] == " ".join("".join(documents_of(corpus)[0][0].split()))
    assert report["settings"]["tokenizer"] == "own_tokens:letters"


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("failing", "corpus.txt: the tokenizer own_tokens:failing failed at 'lone': ZeroDivisionError.*--tokenizer"),
        ("joined", "failed at .*TypeError.*it gave '.*', not a list of strings"),
        ("spaces", "corpus.txt, lines 1 to .*gave the token '.*', which begins or ends with whitespace"),
        ("numbers", "failed at .*it gave .1, .*not a list of strings"),
    ],
)
def test_a_tokenizer_that_misbehaves_is_named_with_the_place(tmp_path, tokenizers, name, message, workers):
    (tmp_path / "corpus.txt").write_text("one two w three\nlone\n")
    with pytest.raises(TextError, match=message):
        prepare(["corpus.txt"], tmp_path / "data", CorpusSettings(tokenizer=f"own_tokens:{name}"), workers=workers)


def shouted(text: str) -> list[str]:
    return text.upper().split()


def test_a_function_no_other_process_can_import_needs_one_worker(tmp_path, corpus):
    with pytest.raises(ConfigError, match="other processes can't import the tokenizer.*module:function"):
        prepare([corpus], tmp_path / "data", CorpusSettings(tokenizer=lambda text: [text]), workers=2)
    report = prepare([corpus], tmp_path / "data", CorpusSettings(tokenizer=shouted))
    assert restored(tmp_path / "data")[0] == documents_of(corpus)[0][0].upper()
    assert report["settings"]["tokenizer"] == "shouted"


# Held-out documents


@pytest.mark.parametrize("documents", ["block", None])
def test_a_share_of_the_documents_is_held_out_whole(tmp_path, corpus, documents):
    report = prepare([corpus], tmp_path / "data", CorpusSettings(valid_share=0.2, documents=documents))
    held_out, training = restored(tmp_path / "data", "valid"), restored(tmp_path / "data")
    for document in documents_of(corpus):
        assert (set(document) <= set(held_out)) != (set(document) <= set(training))
    assert sorted(held_out + training) == sorted(line for document in documents_of(corpus) for line in document)
    counted = report["splits"]["train"]["documents"], report["splits"]["valid"]["documents"]
    assert sum(counted) == 80
    assert 8 <= counted[1] <= 30
    assert report["warnings"] == []
    assert [split["files"][0]["path"] for split in report["splits"].values()] == [str(corpus)] * 2
    assert report["splits"]["train"]["files"][0]["tokens"] == report["splits"]["train"]["tokens"]


def test_the_same_documents_are_held_out_in_any_block_order_packing_and_tokenizer(tmp_path, corpus, monkeypatch):
    prepare([corpus], tmp_path / "a", CorpusSettings(valid_share=0.2))
    monkeypatch.setattr("elmo.corpus.prepare.BLOCK_BYTES", 1 << 20)
    shuffled = tmp_path / "shuffled.txt"
    shuffled.write_bytes("\r\n \r\n".join("\r\n".join(d) for d in reversed(documents_of(corpus))).encode())
    prepare([shuffled], tmp_path / "b", CorpusSettings(valid_share=0.2, tokenizer="unicode"))
    assert sorted(restored(tmp_path / "a", "valid")) == sorted(restored(tmp_path / "b", "valid"))
    rows = [json.dumps({"text": "\n".join(document)}) for document in documents_of(corpus)]
    (tmp_path / "c.jsonl").write_text("\n".join(rows))
    report = prepare([tmp_path / "c.jsonl"], tmp_path / "c", CorpusSettings(valid_share=0.2))
    assert report["splits"]["valid"]["documents"] + report["splits"]["train"]["documents"] == 80
    prepare([tmp_path / "c.jsonl"], tmp_path / "d", CorpusSettings(valid_share=0.2), workers=2)
    assert content(tmp_path / "c") == content(tmp_path / "d")


# What the documents are: a file's name and content, how many there are, and the setting.
DOCUMENTS = {
    "rows": ("rows", "\n".join(f"document {n % 40}" for n in range(400)), 400, "row"),  # equal ones stay together
    "newdoc": (
        "trees.conllu",
        "\n".join(f"# newdoc id = {n}\n" + (f"1\tw{n}" + "\t_" * 8 + "\n\n") * 3 for n in range(50)),
        50,
        None,
    ),
    "proteins": ("p.fasta", "".join(f">P{n}\nMK{'ACDEFGHIKL'[n % 10]}\nV\n" for n in range(100)), 100, None),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_document_is_on_both_sides(tmp_path, kind):
    name, text, count, documents = DOCUMENTS[kind]
    (tmp_path / name).write_text(text)
    report = prepare([tmp_path / name], tmp_path / "data", CorpusSettings(valid_share=0.3, documents=documents))
    assert not set(restored(tmp_path / "data")) & set(restored(tmp_path / "data", "valid"))
    assert report["splits"]["train"]["documents"] + report["splits"]["valid"]["documents"] == count


def test_a_file_is_the_same_document_however_it_is_stored(tmp_path):
    files = [tmp_path / f"{number}.txt" for number in range(30)]
    for number, file in enumerate(files):
        file.write_text(f"file {number}\n\nagain {number}\n" * 9)
        file.with_suffix(".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.with_suffix(".crlf").write_bytes(codecs.BOM_UTF8 + file.read_bytes().replace(b"\n", b"\r\n"))
    (tmp_path / "nothing.txt").write_text("")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(files[0].read_bytes(),))
    writer.start()
    texts = [file.with_suffix(ending) for file in files for ending in (".txt", ".gz", ".crlf")]
    texts += [tmp_path / "pipe", tmp_path / "nothing.txt"]
    report = prepare(texts, tmp_path / "data", CorpusSettings(valid_share=0.3, documents="file"))
    writer.join()
    assert not set(restored(tmp_path / "data")) & set(restored(tmp_path / "data", "valid"))
    assert report["splits"]["train"]["documents"] + report["splits"]["valid"]["documents"] == 91
    assert any("nothing.txt" in warning for warning in report["warnings"])


def test_words_of_held_out_documents_do_not_count_for_the_vocabulary(tmp_path, corpus):
    prepare([corpus], tmp_path / "data", CorpusSettings(valid_share=0.2))
    data = TrainingData.open(tmp_path / "data")
    training = " ".join(restored(tmp_path / "data")).split()
    assert set(data.vocabulary.words[3:]) == set(training)
    assert data.type_counts.sum() == len(training)


def test_a_share_is_held_out_beside_the_files_that_are(tmp_path, corpus):
    (tmp_path / "held").write_text("held out by name\n")
    alone = prepare([corpus], tmp_path / "data", CorpusSettings(valid_share=0.2))["splits"]
    both = prepare([corpus], tmp_path / "both", CorpusSettings(valid_share=0.2), valid=[tmp_path / "held"])["splits"]
    assert both["train"]["tokens"] == alone["train"]["tokens"]
    assert both["valid"]["tokens"] == alone["valid"]["tokens"] + 4


def test_too_few_documents_are_an_error_that_says_how_many(tmp_path):
    (tmp_path / "one").write_text("a single document\nof two lines\n")
    with pytest.raises(TextError, match="the valid text has no token .*--documents"):
        prepare([tmp_path / "one"], tmp_path / "data", CorpusSettings(valid_share=0.01))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"valid_share": 0.0}, "valid_share must be above 0 and below 1 .got 0.0"),
        ({"valid_share": 1.0}, "valid_share must be above 0 and below 1 .got 1.0"),
        ({"valid_share": float("nan")}, r"valid_share must be .* \(got nan\)"),
        (
            {"valid_share": 0.1, "documents": "page"},
            "documents must be one of 'file', 'block', 'row' or None .got 'page'",
        ),
        ({"sentences": "words"}, "sentences must be one of 'lines', 'within-lines', 'across-lines' .got 'words'"),
        ({"format": "xml"}, "format must be one of 'auto', 'text', 'jsonl', .* .got 'xml'"),
        ({"errors": "ignore"}, "errors must be one of 'strict', 'skip' .got 'ignore'"),
        ({"tokenizer": "nowhere:f"}, "'nowhere:f' can't be loaded"),
        ({"tokenizer": "moses"}, "no tokenizer 'moses'"),
        ({"encoding": "utf-16"}, "encoding is 'utf-16'"),
        ({"vocab_size": 3}, r"vocab_size must be at least 4 \(got 3\)"),
        ({"min_count": 0}, "min_count must be at least 1"),
        ({"num_beginnings": -1}, "num_beginnings must be at least 0.*got -1"),
        ({"vocab_size": 9, "num_beginnings": 6}, r"vocab_size must be at least 10 \(got 9\)"),
        ({"max_characters_per_token": 2}, r"max_characters_per_token must be .* .got 2."),
        ({"max_characters_per_token": 10**20}, "max_characters_per_token must be a whole number .* .got 1000"),
        ({"tokens_per_shard": 0}, r"tokens_per_shard must be at least 1 .got 0."),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_read(
    tmp_path, corpus, monkeypatch, settings, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=message):
        prepare([corpus], tmp_path / "data", CorpusSettings(**settings))
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_texts_and_workers_that_make_no_sense_are_refused_before_anything_is_read(tmp_path, corpus):
    for workers in (0, 10**20):
        with pytest.raises(ConfigError, match=rf"workers must be a whole number .* \(got {workers}\)"):
            prepare([corpus], tmp_path / "data", workers=workers)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


# Several processes


def test_any_number_of_workers_makes_the_same_bytes(tmp_path, corpus):
    (tmp_path / "more.jsonl").write_text("".join(json.dumps({"text": f"row {n} . Two"}) + "\n" for n in range(100)))
    for workers in (1, 2, 3):
        prepare(
            [corpus, tmp_path / "more.jsonl"],
            tmp_path / f"data{workers}",
            CorpusSettings(valid_share=0.2, sentences="within-lines", tokenizer="unicode", tokens_per_shard=500),
            test=[corpus],
            workers=workers,
        )
    assert content(tmp_path / "data1") == content(tmp_path / "data2") == content(tmp_path / "data3")
    assert len(list((tmp_path / "data1").glob("train-*.tokens.npy"))) > 2


def test_a_worker_that_dies_is_told_and_the_rest_is_kept(tmp_path, corpus, monkeypatch):
    (tmp_path / "deadly.py").write_text(
        "import os\n\n\ndef split(text):\n    if 'w60' in text:\n        os._exit(9)\n    return text.split()\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ElmoError, match=r"a worker ended with code 9.*--resume"):
        prepare([corpus], tmp_path / "data", CorpusSettings(tokenizer="deadly:split"), workers=2)
    assert list((tmp_path / "data.partial").glob("part-*.npz"))
    assert not (tmp_path / "data").exists()


# Interruptions


class StopsAfter(StopFlag):
    """Somebody presses Ctrl-C when the run has looked so often."""

    def __init__(self, looks: float) -> None:
        super().__init__()
        self.allowed = looks
        self.looks = 0

    def check(self) -> None:
        self.looks += 1
        if self.looks > self.allowed:
            self.signal = signal.SIGINT
        super().check()


@pytest.mark.parametrize(("share", "workers"), [(0, 1), (0.3, 1), (0.7, 1), (0.99, 1), (0.3, 2)])
def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path, corpus, share, workers):
    never = StopsAfter(float("inf"))
    prepare([corpus], tmp_path / "whole", CorpusSettings(valid_share=0.2), stop_flag=never)
    looks = int(share * never.looks)
    with pytest.raises(Interrupted, match="data.partial. Continue with the same command and --resume") as caught:
        prepare(
            [corpus], tmp_path / "data", CorpusSettings(valid_share=0.2), workers=workers, stop_flag=StopsAfter(looks)
        )
    assert caught.value.exit_code == 75
    assert not (tmp_path / "data").exists()
    with pytest.raises(OutputError, match="an earlier run did not finish.*Continue it with --resume"):
        prepare([corpus], tmp_path / "data", CorpusSettings(valid_share=0.2))
    prepare([corpus], tmp_path / "data", CorpusSettings(valid_share=0.2), resume=True)
    assert content(tmp_path / "data") == content(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "data", "whole"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_does_not_wait_for_a_pipe(tmp_path, number, open_pipe):
    with stop_flag() as flag, pytest.raises(Interrupted, match="data.partial. Continue with the same command"):
        prepare(open_pipe(number), tmp_path / "data", stop_flag=flag)
    assert flag.signal == number


def test_finished_parts_are_not_made_again_and_damaged_ones_are(tmp_path, corpus, monkeypatch):
    prepare([corpus], tmp_path / "whole")
    with pytest.raises(Interrupted):
        prepare([corpus], tmp_path / "data", stop_flag=StopsAfter(40))
    kept = sorted((tmp_path / "data.partial").glob("part-*.npz"))
    damaged = bytearray(kept[1].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    kept[1].write_bytes(damaged)
    kept[2].write_bytes(b"")
    made = []
    save = parts.Part.save
    monkeypatch.setattr(parts.Part, "save", lambda self, path: (made.append(path.name), save(self, path)))
    prepare([corpus], tmp_path / "data", resume=True)
    assert {path.name for path in kept} & set(made) == {kept[1].name, kept[2].name}
    assert content(tmp_path / "data") == content(tmp_path / "whole")


def test_a_run_is_not_resumed_with_another_text_or_setting(tmp_path, corpus):
    with pytest.raises(Interrupted):
        prepare([corpus], tmp_path / "data", stop_flag=StopsAfter(40))
    with pytest.raises(ConfigError, match="was begun with tokenizer 'whitespace', now it is 'unicode'"):
        prepare([corpus], tmp_path / "data", CorpusSettings(tokenizer="unicode"), resume=True)
    text = corpus.read_bytes()
    corpus.write_bytes(text.replace(b"w0", b"w1"))
    with pytest.raises(TextError, match="corpus.txt, lines 1 to .* the text has changed .* --force"):
        prepare([corpus], tmp_path / "data", resume=True)
    corpus.write_bytes(text)
    prepare([corpus], tmp_path / "data", resume=True)
    assert restored(tmp_path / "data") == [line for document in documents_of(corpus) for line in document]


def test_force_begins_anew_and_never_removes_what_is_not_ours(tmp_path, corpus):
    with pytest.raises(Interrupted):
        prepare([corpus], tmp_path / "data", stop_flag=StopsAfter(40))
    (tmp_path / "data.partial" / ".plan.json.0123456789ab.unfinished").write_text("{")  # killed while it wrote
    prepare([corpus], tmp_path / "data", CorpusSettings(tokenizer="unicode"), force=True)
    assert not (tmp_path / "data.partial").exists()
    (tmp_path / "data.partial").mkdir()
    (tmp_path / "data.partial" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="data.partial: holds 'thesis.txt', which no run made"):
        prepare([corpus], tmp_path / "data", force=True)
    assert (tmp_path / "data.partial" / "thesis.txt").exists()


@pytest.mark.skipif(folder_lock.fcntl is None, reason="needs file locks")
def test_two_runs_never_work_on_the_same_output(tmp_path, corpus, monkeypatch):
    monkeypatch.setattr(folder_lock, "SECONDS", 0.0)
    looks = 0

    def look_around() -> None:
        nonlocal looks
        looks += 1
        if looks % 40:
            return
        with pytest.raises(OutputError, match="another 'elmo prepare' is at work there"):
            prepare([corpus], tmp_path / "data", force=True)

    flag = StopFlag()
    flag.check = look_around
    prepare([corpus], tmp_path / "data", stop_flag=flag, workers=2)
    assert looks >= 40
    assert TrainingData.open(tmp_path / "data").num_sentences("train") == 400


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [((errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
     (("4096 requested and 512 written",), "4096 requested and 512 written")],  # as numpy says it
)  # fmt: skip
def test_a_full_disk_is_told_with_figures_and_what_is_done_is_kept(tmp_path, corpus, monkeypatch, arguments, reason):
    prepare([corpus], tmp_path / "whole")
    save = parts.Part.save

    def full(self, path):
        if path.name == "part-000005.npz":
            raise OSError(*arguments)
        save(self, path)

    with monkeypatch.context() as patch:
        patch.setattr(parts.Part, "save", full)
        with pytest.raises(
            OutputError, match=rf"data.partial: can't be written: {reason}; [\d,]+ bytes were written, .*--resume"
        ):
            prepare([corpus], tmp_path / "data")
    assert len(list((tmp_path / "data.partial").glob("part-*.npz"))) == 5
    prepare([corpus], tmp_path / "data", resume=True)
    assert content(tmp_path / "data") == content(tmp_path / "whole")


SLOW = """
import sys, time
from elmo.corpus import parts
from elmo.corpus import prepare
from elmo.cli.main import main
from elmo.weights.catalogue import bundled_folders
prepare.BLOCK_BYTES = 300
save = parts.Part.save
def slow(self, path):
    time.sleep(0.01)
    save(self, path)
parts.Part.save = slow
has = prepare.WorkFolder.has
def slow_has(self, index, block):
    time.sleep(0.01)
    return has(self, index, block)
prepare.WorkFolder.has = slow_has
sys.exit(main(sys.argv[1:]))
"""


def started(arguments: list[str], folder: Path, num_parts: int) -> subprocess.Popen:
    """`elmo prepare` as a process of its own, that has made some parts."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "prepare", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while len(list(folder.glob("*.partial/part-*.npz"))) < num_parts:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.005)
    return process


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_a_killed_run_goes_on_to_the_same_bytes_and_signals_end_with_75(tmp_path, corpus):
    prepare([corpus], tmp_path / "whole")
    arguments = [str(corpus), "-o", str(tmp_path / "data"), "--quiet", "--resume"]
    ends = [(signal.SIGKILL, -signal.SIGKILL, "2"), (signal.SIGTERM, 75, "1"), (signal.SIGINT, 75, "2")]
    for number, (signal_number, code, workers) in enumerate(ends, start=1):
        process = started([*arguments, "--workers", workers], tmp_path, 5 * number)
        # A terminal and a scheduler signal all processes of a group; kill -9 comes to one.
        if signal_number == signal.SIGKILL:
            process.kill()
        else:
            os.killpg(process.pid, signal_number)
        told = process.communicate(timeout=60)[1]
        assert process.returncode == code
        assert ("--resume" in told) == (code == 75)
    assert not (tmp_path / "data").exists()
    prepare([str(corpus)], tmp_path / "data", resume=True)
    assert content(tmp_path / "data") == content(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "data", "whole"]


def test_what_a_run_killed_at_its_very_end_left_is_tidied_up(tmp_path, corpus):
    with pytest.raises(Interrupted):
        prepare([corpus], tmp_path / "data", stop_flag=StopsAfter(40))
    (tmp_path / ".data.0123456789ab.unfinished").mkdir()
    (tmp_path / ".data.0123456789ab.unfinished" / "types.json").write_text("[]")
    (tmp_path / ".data.mine.unfinished").mkdir()
    prepare([corpus], tmp_path / "data", resume=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".data.mine.unfinished", "corpus.txt", "data"]
