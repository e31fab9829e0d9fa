"""BackgroundWriter: what is written while the next window is embedded."""

import threading

import pytest

from elmo.embed.corpus.background_writer import BackgroundWriter


def test_pieces_run_one_after_the_other_beside_the_caller():
    done, here = [], threading.Event()
    with BackgroundWriter() as behind:
        behind.start(lambda: (here.wait(10), done.append("first")))
        assert done == []
        here.set()
        behind.start(done.append, "second")
        assert done[0] == "first"
        behind.wait()
        assert done == ["first", "second"]


def test_what_a_piece_raises_is_raised_at_the_next_wait_and_only_there():
    with BackgroundWriter() as behind:
        behind.start(lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            behind.start(print)
        behind.wait()


def test_at_the_end_nothing_is_running():
    here, done = threading.Event(), []
    with pytest.raises(KeyError), BackgroundWriter() as behind:
        behind.start(lambda: (here.wait(10), done.append("whole")))
        threading.Timer(0.05, here.set).start()
        raise KeyError
    assert done == ["whole"]
