"""What operations report to: counting, and what a caller may pass."""

import threading

import pytest

import elmo
from elmo.process.progress.report import SILENT, Count, Progress, following


def test_a_count_adds_up_and_begins_where_an_earlier_run_ended(recorded_progress):
    count = Count(recorded_progress, "reading", 10, "bytes", done=3)
    count.add(2)
    assert list(count.each("abcde")) == list("abcde")
    assert recorded_progress.stages == {"reading": [(done, 10) for done in (3, 5, 6, 7, 8, 9, 10)]}
    recorded_progress.require_stages(reading="bytes")


def test_a_count_of_many_threads_never_falls(recorded_progress):
    count = Count(recorded_progress, "embedding", 8000, "tokens")
    threads = [threading.Thread(target=lambda: [count.add() for _ in range(1000)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorded_progress.require_stages(embedding="tokens")


@pytest.mark.parametrize(("given", "told"), [(False, ""), (True, "a line\n")])
def test_true_means_standard_error_and_false_nobody(given, told, capsys):
    with following(given) as progress:
        assert (progress is SILENT) is not given
        progress.say("a line")
    assert capsys.readouterr() == ("", told)


def test_any_object_with_the_methods_will_do(recorded_progress):
    class Own:
        def show(self, what: str, done: int, total: int | None, unit: str, note: str = "") -> None: ...
        def say(self, line: str) -> None: ...

    for given in (recorded_progress, Own()):
        with following(given) as progress:
            assert progress is given


def test_what_is_not_overridden_does_nothing():
    class Own(elmo.Progress):
        pass

    Own().show("reading", 1, 2, "bytes")
    Own().say("a line")
    assert elmo.Progress is Progress
