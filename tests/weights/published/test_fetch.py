"""A published model by its name, from a server that cuts, changes, redirects and refuses."""

import errno
import hashlib
import io
import shutil
import sys
import threading
import time
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from elmo.errors import OutputError, WeightFileError
from elmo.weights import formats, hub
from elmo.weights.published import fetch, sources, transfer
from elmo.weights.published.fetch import fetched, is_downloaded, published_folder

pytestmark = pytest.mark.filterwarnings("ignore:.*is not encrypted")

WEIGHTS = "/models/tiny/weights.hdf5"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def hashes(files: dict[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def get(name: str = "tiny", **options) -> Path:
    return fetched(name, progress=False, **options)


def test_a_name_is_downloaded_once_and_loads(tiny, publisher, model_files):
    assert not is_downloaded(tiny)
    folder = hub.resolve(tiny)
    assert folder == published_folder(tiny)
    assert contents(folder) == model_files
    assert is_downloaded(tiny)
    asked = len(publisher.asked)
    assert hub.resolve(tiny) == hub.resolve(tiny, download=False) == folder
    assert len(publisher.asked) == asked == 2
    assert formats.read(folder).source_format == "allennlp"
    assert list((folder.parent / ".parts" / "tiny").iterdir()) == []


def test_the_bytes_of_each_file_are_reported(tiny, recorded_progress):
    fetched(tiny, progress=recorded_progress)
    recorded_progress.require({"options.json": "bytes", "weights.hdf5": "bytes"})


def test_bars_are_shown_on_stderr_unless_refused(tiny, terminal, monkeypatch, capsys):
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", terminal)
        fetched(tiny)
    assert [line.partition("|")[0] for line in terminal.screen if line] == ["options.json: 100%", "weights.hdf5: 100%"]
    shutil.rmtree(published_folder(tiny))
    get()
    assert capsys.readouterr() == ("", "")


def test_an_unencrypted_address_is_named_unless_the_hash_is_known(tiny, model_files, monkeypatch):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        get()
        assert len(caught) == 2
        known = hashes(model_files)
        assert "is not encrypted, and no SHA-256 of the file is known" in str(caught[0].message)
        assert f"Its SHA-256 is {known['options.json']}." in str(caught[0].message)
        shutil.rmtree(published_folder(tiny))
        monkeypatch.setattr(fetch, "published_hash", known.get)
        get()
        assert len(caught) == 2


@pytest.mark.parametrize(
    "faults",
    [
        ["", "cut 1000"],
        ["", "cut 0", "cut 5000", "cut 1"],
        ["status 503", "status 429", "", "status 500"],
        ["hang"],
        ["no length", "no length"],
        ["redirect /elsewhere"],
    ],
)
def test_a_bad_connection_is_tried_again_and_a_redirect_followed(tiny, publisher, model_files, monkeypatch, faults):
    monkeypatch.setattr(transfer, "TIMEOUT", 0.1)
    publisher.files["/elsewhere"] = model_files["options.json"]
    publisher.faults = faults
    assert contents(get()) == model_files


def test_a_connection_that_only_ever_ends_is_given_up_and_leaves_nothing(tiny, publisher, model_files):
    publisher.faults = ["", *["cut 10"] * transfer.TRIES]
    with pytest.raises(WeightFileError, match=r"ended after 10 of [\d,]+ bytes, 4 times\n(.|\n)*By hand: get http"):
        get()
    assert not published_folder(tiny).exists()
    assert contents(get()) == model_files


def test_what_a_killed_process_has_left_is_in_nobodys_way(tiny, model_files):
    with fetch._alone("tiny") as parts:
        (parts / "weights.hdf5").write_bytes(b"half")
        (parts / "of an older version").mkdir()
    assert contents(get()) == model_files


def test_a_full_disk_says_so(tiny, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(transfer, "_write", full)
    with pytest.raises(OutputError, match="can't be written: No space left.*ELMO_CACHE"):
        get()


def test_another_file_than_the_published_one_is_refused(tiny, publisher, model_files, monkeypatch):
    known = hashes(model_files)
    monkeypatch.setattr(fetch, "published_hash", known.get)
    publisher.files[WEIGHTS] = model_files["weights.hdf5"][:-8] + b"changed!"
    with pytest.raises(
        WeightFileError, match=f"has the SHA-256 .*, but the published file has {known['weights.hdf5']}"
    ):
        get()
    assert not published_folder(tiny).exists()
    publisher.files[WEIGHTS] = model_files["weights.hdf5"]
    assert contents(get()) == model_files


def test_a_file_that_is_not_the_first_one_is_refused_when_it_is_downloaded_again(tiny, publisher, model_files):
    shutil.rmtree(get())
    first = fetch.seen_hashes(tiny)
    had = first["weights.hdf5"]
    assert first == hashes(model_files)
    publisher.files[WEIGHTS] = model_files["weights.hdf5"][:-8] + b"changed!"
    with pytest.raises(WeightFileError, match=rf"one that was downloaded, noted in .*tiny\.json .*had {had}"):
        get()
    publisher.files[WEIGHTS] = model_files["weights.hdf5"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # its hash is known now, so that http is no risk
        assert contents(get()) == model_files


def zipped(files: dict[str, bytes], prefix: str = "") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(prefix + name, data)
    return content.getvalue()


@pytest.fixture
def proteins(tiny, publisher, monkeypatch) -> str:
    """A model like `seqvec`: an archive, its files one by one, and a copy of somebody else's."""
    models = sources.known_models()
    archive, copies = f"{publisher.address}/zips/proteins.zip", (f"{publisher.address}/copy/",)
    models |= {"proteins": replace(models["tiny"], name="proteins", archive=archive, copies=copies)}
    monkeypatch.setattr(sources, "known_models", lambda: models)
    return "proteins"


def test_a_model_with_an_archive_is_unpacked_from_it(proteins, publisher, model_files):
    publisher.files["/zips/proteins.zip"] = zipped(model_files, "uniref50_v2/")
    assert contents(get(proteins)) == model_files
    assert is_downloaded(proteins)
    assert list(fetch.seen_hashes(proteins)) == ["proteins.zip"]


# With names: an archive has the time in it, and each process that runs tests makes its own.
@pytest.mark.parametrize(
    "archive",
    [None, b"PK\x03\x04 and no more", zipped({"readme.txt": b"moved"})],
    ids=["none", "cut off", "of other files"],
)
def test_without_a_sound_archive_its_files_are_taken_one_by_one_or_from_a_copy(
    proteins, publisher, model_files, archive
):
    if archive is not None:
        publisher.files["/zips/proteins.zip"] = archive
    del publisher.files[WEIGHTS]
    publisher.files["/copy/weights.hdf5"] = model_files["weights.hdf5"]
    assert contents(get(proteins)) == model_files
    assert is_downloaded(proteins)
    assert hub.resolve(proteins, download=False) == published_folder(proteins)


def test_without_either_both_are_named(proteins, publisher):
    publisher.files.clear()
    with pytest.raises(WeightFileError, match=r"proteins\.zip: HTTP status 404.*\n.*options\.json: HTTP status 404"):
        get(proteins)


def test_the_copies_of_the_published_original_are_pinned_to_a_commit():
    (options, weights) = sources.source_of("original").files
    assert options.addresses[-1].endswith("/options.json")
    assert weights.addresses[-1].endswith("/weights.hdf5")
    assert all(len(it.split("/resolve/")[1].split("/")[0]) == 40 for it in weights.addresses[2:])
    assert weights.addresses[0].endswith("/elmo_2x4096_512_2048cnn_2xhighway_weights.hdf5")


@pytest.mark.parametrize("status", [404, 403, 410])
def test_what_is_not_there_is_had_from_a_mirror_or_not_at_all(tiny, publisher, model_files, status):
    publisher.faults = [f"status {status}"]
    with pytest.raises(WeightFileError) as raised:
        get()
    first, route, last = str(raised.value).splitlines()
    assert first == "tiny: could not be downloaded:"
    assert route.startswith(f"  {publisher.address}/models/tiny/options.json: HTTP status {status}")
    assert last.startswith("Check the network") and f"put them into {published_folder('tiny')}" in last
    publisher.files |= {f"/mirror/tiny/{name}": content for name, content in model_files.items()}
    assert contents(get(mirrors=[f"{publisher.address}/mirror/"])) == model_files
    assert publisher.asked[-1] == "/mirror/tiny/weights.hdf5"


def test_a_dead_mirror_gives_way_to_the_publisher(tiny, publisher, model_files, monkeypatch):
    monkeypatch.setenv("ELMO_MIRRORS", f"http://127.0.0.1:1 {publisher.address}/nothing")
    assert contents(get()) == model_files


@pytest.mark.parametrize("mirror", ["ftp://127.0.0.1/x", "file:///etc", "no address", "http://"])
def test_an_address_of_another_kind_gives_nothing(tiny, model_files, mirror):
    assert contents(get(mirrors=[mirror])) == model_files


def test_a_silent_server_and_endless_redirects_are_given_up(tiny, publisher, monkeypatch):
    publisher.faults = ["redirect /models/tiny/options.json"] * 20
    with pytest.raises(WeightFileError, match="HTTP status 302"):
        get()
    monkeypatch.setattr(transfer, "TIMEOUT", 0.1)
    publisher.faults = ["hang"] * transfer.TRIES
    with pytest.raises(WeightFileError, match="timed out, 4 times"):
        get()


def test_no_redirect_leaves_an_encrypted_connection():
    request = transfer.urllib.request.Request("https://example.org/a")
    with pytest.raises(transfer.Refused, match="not encrypted"):
        transfer._Redirects().redirect_request(request, io.BytesIO(), 302, "", {}, "http://example.org/a")


@pytest.mark.parametrize("place", [0, 1])
def test_a_page_that_asks_to_log_in_is_no_model(tiny, publisher, model_files, place):
    publisher.faults = ["", ""]
    publisher.faults[place] = "login"
    with pytest.raises(WeightFileError, match="it may be a login page"):
        get()
    assert contents(get()) == model_files


def test_fewer_bytes_than_the_weights_have_are_refused(tiny):
    models = sources.known_models()
    models[tiny] = replace(models[tiny], parameters=10**9)
    with pytest.raises(WeightFileError, match=r"has [\d,]+ bytes, but a model's has 4,000,000,000 to"):
        get()


def test_more_bytes_than_a_model_has_are_refused(tiny, publisher, monkeypatch):
    monkeypatch.setattr(fetch, "MAX_BYTES", 5000)
    with pytest.raises(WeightFileError, match="but a model's has .* to 5,000"):
        get()
    publisher.faults = ["", "no length"]
    with pytest.raises(WeightFileError, match="more than 5,000 bytes"):
        get()


def test_an_end_without_a_size_counts_once_all_the_weights_can_be_there(tiny, publisher, model_files):
    models = sources.known_models()
    models[tiny] = replace(models[tiny], parameters=len(model_files["weights.hdf5"]) // 4)
    publisher.faults = ["", "no length 3000", "no length"]
    assert contents(get()) == model_files
    assert publisher.asked[1:] == [WEIGHTS, WEIGHTS]


def test_a_cache_that_cannot_be_written_says_so(tiny, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "file"))
    with pytest.raises(OutputError, match="can't be used: .*Set ELMO_CACHE"):
        get()


def test_files_put_there_by_hand_are_the_model(tiny, publisher, model_files):
    folder = published_folder(tiny)
    folder.mkdir(parents=True)
    (folder / "options.json").write_bytes(model_files["options.json"])
    with pytest.raises(WeightFileError, match="not downloaded yet"):
        get(download=False)
    (folder / "weights.hdf5").write_bytes(model_files["weights.hdf5"])
    assert get(download=False) == folder
    assert publisher.asked == []


def test_a_folder_with_half_the_files_is_completed_but_nothing_else_is_removed(tiny, publisher, model_files):
    folder = published_folder(tiny)
    folder.mkdir(parents=True)
    (folder / "options.json").write_text("{}")
    (folder / "mine.txt").write_text("")
    with pytest.raises(OutputError, match="holds 'mine.txt'"):
        get()
    (folder / "mine.txt").unlink()
    assert contents(get()) == model_files


def test_many_threads_download_it_once(tiny, publisher, model_files):
    threads = [threading.Thread(target=get) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert contents(published_folder(tiny)) == model_files
    assert len(publisher.asked) == 2


def test_a_process_that_is_at_work_is_waited_for(tiny, publisher, model_files, monkeypatch):
    monkeypatch.setattr(fetch, "WAIT", 0.2)
    with fetch._alone("tiny"), pytest.raises(OutputError, match="another download of tiny is at work"):
        get()
    monkeypatch.setattr(fetch, "WAIT", 30)
    with fetch._alone("tiny"):
        waiting = threading.Thread(target=get)
        waiting.start()
        time.sleep(0.3)
        assert publisher.asked == []
    waiting.join()
    assert contents(published_folder(tiny)) == model_files


@pytest.mark.parametrize("prefix", ["", "154/"])
def test_an_archive_is_unpacked(tiny, publisher, model_files, prefix):
    publisher.files["/zips/154.zip"] = zipped(model_files | {"meta.json": b"{}"}, prefix)
    folder = hub.resolve("nlpl:154")
    assert contents(folder) == model_files | {"meta.json": b"{}"}
    assert formats.read(folder).source_format == "allennlp"
    assert hub.resolve("nlpl:154", download=False) == folder


def test_a_language_of_many_langs_is_its_archive(tiny, publisher, golden_folder):
    pytest.importorskip("torch")
    folder = golden_folder / "efml_word_and_char"
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "expected.npz"}
    publisher.files["/zips/161.zip"] = zipped(files)
    found = hub.resolve("many-langs/ko")
    assert found == published_folder("many-langs/ko")
    assert formats.read(found).source_format == "many_langs"


def test_an_archive_of_other_vectors_is_no_model_and_leaves_nothing(tiny, publisher):
    publisher.files["/zips/42.zip"] = zipped({"model.txt": b"1 2\nthe 0.1 0.2\n", "meta.json": b"{}"})
    with pytest.raises(WeightFileError, match=r"nlpl:42: contains no ELMo model but meta\.json, model\.txt"):
        hub.resolve("nlpl:42")
    assert not published_folder("nlpl:42").exists()


def test_a_damaged_archive_says_so_and_a_sound_one_is_taken_later(tiny, publisher, model_files):
    sound = zipped(model_files)
    place = len(sound) // 3
    publisher.files["/zips/154.zip"] = sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :]
    with pytest.raises(WeightFileError, match=r"154\.zip: is not a valid zip archive"):
        hub.resolve("nlpl:154")
    assert not published_folder("nlpl:154").exists()
    publisher.files["/zips/154.zip"] = sound
    assert contents(hub.resolve("nlpl:154")) == model_files
