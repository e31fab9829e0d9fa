"""The index that FAISS searches: its hits' cosines are exact, and few hits are missing."""

import shutil
import sys

import numpy as np
import pytest

from elmo.analysis.neighbors import approximate
from elmo.analysis.neighbors.build import build_index
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, MissingExtraError, TextError

WORDS = [f"{first}{second}" for first in "abcdefghij" for second in "klmnopqr가나"]


def text(count: int = 1000) -> list[list[str]]:
    """Sentences of 2 to 7 words, 4,500 words on average."""
    random = np.random.default_rng(5)
    return [[WORDS[place] for place in random.integers(len(WORDS), size=random.integers(2, 8))] for _ in range(count)]


@pytest.fixture
def folders(tmp_path, tiny_checkpoint):
    """The same index with FAISS's files and without."""
    pytest.importorskip("faiss")
    for name in ("exact", "approximate"):
        build_index(text(), Embedder(tiny_checkpoint), tmp_path / name, approximate=name == "approximate")
    return tmp_path


@pytest.mark.parametrize(("lists", "least"), [(None, 0.5), (1000, 1.0)])
def test_hits_are_those_of_the_exact_search_but_for_a_few(folders, monkeypatch, lists, least):
    """All of them if every list is read and every candidate compared. Random vectors of 16 dimensions are not easy."""
    if lists is not None:
        monkeypatch.setattr(approximate, "_LISTS_READ", lists)
        monkeypatch.setattr(approximate, "DEPTHS", (10_000,))
    exact, found = ContextIndex(folders / "exact"), ContextIndex(folders / "approximate")
    for which in ("any", "same", "other"):
        shared = []
        for token in range(0, 2000, 50):
            (vector,) = exact.vectors(np.array([token]), 1)
            sentence, position = exact.place(token)
            own = exact.sentences[sentence]
            asked = {"word": own[position], "which": which, "not_sentence": own, "count": 5}
            expected, hits = (index.search(vector, 1, **asked) for index in (exact, found))
            for hit in hits:
                (stored,) = exact.vectors(np.array([exact._starts[hit.sentence] + hit.position]), 1)
                assert hit.cosine == pytest.approx(float(stored @ vector / np.linalg.norm(vector)), abs=1e-6)
            assert len(hits) == len(expected)
            # Equal sentences have equal cosines, and either may be the one that is given.
            shared += [hit.cosine >= expected[-1].cosine - 1e-6 for hit in hits]
        assert np.mean(shared) >= least


def test_what_faiss_does_not_find_is_searched_exactly(folders, monkeypatch):
    exact, found = ContextIndex(folders / "exact"), ContextIndex(folders / "approximate")
    (vector,) = exact.vectors(np.array([7]), 1)
    with monkeypatch.context() as patched:
        patched.setattr(approximate, "DEPTHS", (1,))
        assert found.search(vector, 1, count=5) == exact.search(vector, 1, count=5)
    weights = [0.2, 0.3, 0.5]
    for asked in ((0, False), (weights, False), (1, True)):
        layer, center = asked
        assert found.search(vector, layer, center=center) == exact.search(vector, layer, center=center)


def test_a_changed_file_is_refused_before_faiss_reads_it(folders, tmp_path):
    shutil.copytree(folders / "approximate", tmp_path / "index")
    path = tmp_path / "index" / "layer-1.faiss"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    index = ContextIndex(tmp_path / "index")
    with pytest.raises(TextError, match=r"layer-1\.faiss: doesn't have the SHA-256"):
        index.search(np.ones(16, np.float32), 1)
    path.unlink()
    with pytest.raises(TextError, match=r"layer-1\.faiss: is missing"):
        ContextIndex(tmp_path / "index")


def test_a_short_text_is_refused_and_leaves_nothing(tiny_checkpoint, tmp_path):
    pytest.importorskip("faiss")
    with pytest.raises(TextError, match="learns from 1,024 at least"):
        build_index(text(10), Embedder(tiny_checkpoint), tmp_path / "index", approximate=True)
    assert not list(tmp_path.iterdir())


def test_the_limit_is_higher_with_faiss(tiny_checkpoint, tmp_path):
    with pytest.raises(ConfigError, match="searched exactly holds 1 to 1,000,000 tokens.*--approximate"):
        build_index(text(10), Embedder(tiny_checkpoint), tmp_path / "index", max_tokens=2_000_000)


def test_without_faiss_the_extra_is_named_before_anything_is_read(tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyelmo\[faiss\]'"):
        build_index(iter([]), Embedder(tiny_checkpoint), tmp_path / "index", approximate=True)
