"""Progress on a terminal: what is seen there."""

import io
import re
import time

import pytest

from elmo.process.progress import bars
from elmo.process.progress.bars import drawn_on
from elmo.process.progress.lines import ProgressLines


def moved_on(progress, what, done, total, unit, note=""):
    """A report that is surely drawn: tqdm leaves out those that come too fast."""
    time.sleep(0.11)
    progress.show(what, done, total, unit, note)


@pytest.fixture
def quick_pace(monkeypatch):
    """A speed is told at once."""
    monkeypatch.setattr("elmo.process.progress.lines._SHORTEST_PACE", 0.05)


def test_a_bar_has_percent_amount_speed_and_time_left(terminal, quick_pace):
    with drawn_on(terminal) as progress:
        progress.show("embedding", 0, 100_000, "tokens")
        moved_on(progress, "embedding", 1000, 100_000, "tokens", "loss 2.9")
        assert terminal.screen[-1].endswith("| 1,000 of 100k tokens [00:00<?, ?, loss 2.9]")
        moved_on(progress, "embedding", 25_000, 100_000, "tokens", "loss 2.5")
        line = terminal.screen[-1]
        assert re.fullmatch(
            r"embedding:  25%\|.+\| 25.0k of 100k tokens \[00:\d\d<00:\d\d, [\d.]+k? tokens/s, loss 2.5\]", line
        ), line
        progress.show("embedding", 100_000, 100_000, "tokens")
        assert terminal.screen[-1] == ""
        assert terminal.screen[0].startswith("embedding: 100%")


def test_a_bar_starts_no_thread(terminal, quick_pace):
    """tqdm's would be waited for at the end of the process."""
    with drawn_on(terminal) as progress:
        moved_on(progress, "embedding", 25, 100, "tokens")
        assert bars._Bar.monitor is None


def test_without_a_total_there_is_no_bar(terminal, quick_pace):
    with drawn_on(terminal) as progress:
        progress.show("scoring", 0, None, "sentences")
        moved_on(progress, "scoring", 1, None, "sentences")
        moved_on(progress, "scoring", 12, None, "sentences")
        assert re.fullmatch(r"scoring: 12 sentences \[00:\d\d, [\d.]+ sentences/s\]", terminal.screen[-1])


def test_a_total_may_become_known(terminal):
    with drawn_on(terminal) as progress:
        progress.show("weights.hdf5", 0, None, "bytes")
        moved_on(progress, "weights.hdf5", 5_000_000, 10_000_000, "bytes")
        assert "50%" in terminal.screen[-1]
        assert "5.00MB of 10.0MB [" in terminal.screen[-1]


def test_a_stage_within_another_leaves_no_line(terminal):
    with drawn_on(terminal) as progress:
        progress.show("training", 0, 10, "steps")
        moved_on(progress, "training", 5, 10, "steps")
        progress.show("evaluating", 0, 3, "sentences")
        moved_on(progress, "evaluating", 2, 3, "sentences")
        assert [line.partition(":")[0] for line in terminal.screen[:2]] == ["training", "evaluating"]
        progress.show("evaluating", 3, 3, "sentences")
        progress.say("step 5: perplexity 100")
        moved_on(progress, "training", 10, 10, "steps")
    assert [line.partition(":")[0] for line in terminal.screen] == ["step 5", "training", ""]


def test_an_error_leaves_a_whole_line_and_the_cursor_below_it(terminal):
    with pytest.raises(KeyboardInterrupt), drawn_on(terminal) as progress:
        progress.show("training", 0, 10, "steps")
        moved_on(progress, "training", 5, 10, "steps")
        progress.show("evaluating", 0, 3, "sentences")
        moved_on(progress, "evaluating", 2, 3, "sentences")
        raise KeyboardInterrupt
    assert [line.partition(":")[0] for line in terminal.screen] == ["training", ""]
    assert terminal.screen[0].count("training") == 1


def test_ctrl_c_while_a_bar_is_drawn_leaves_a_whole_line(terminal, monkeypatch):
    monkeypatch.setattr(bars, "_UNSEEN", 0.01)  # tqdm doesn't know of a bar whose first drawing did not come to its end

    def write(text):
        type(terminal).write(terminal, text)
        if "training" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), drawn_on(terminal) as progress:
        progress.show("training", 0, 10, "steps")
        monkeypatch.setattr(terminal, "write", write)
        moved_on(progress, "training", 5, 10, "steps")
    monkeypatch.undo()
    terminal.write("interrupted\n")
    assert terminal.screen[1:] == ["interrupted", ""]


def test_what_is_done_in_a_moment_is_not_drawn(terminal, monkeypatch):
    monkeypatch.setattr(bars, "_UNSEEN", 60)
    with drawn_on(terminal) as progress:
        for done in range(101):
            progress.show("reading", done, 100, "bytes")
    assert terminal.getvalue() == ""


def test_on_anything_but_a_terminal_there_are_lines():
    stream = io.StringIO()
    with drawn_on(stream) as progress:
        assert isinstance(progress, ProgressLines)
        progress.say("a line")
    assert stream.getvalue() == "a line\n"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("I/O operation on closed file")])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_stream_that_breaks_does_not_end_the_operation(is_terminal, error, terminal, monkeypatch):
    stream = terminal if is_terminal else io.StringIO()
    with drawn_on(stream) as progress:
        progress.show("training", 0, 10, "steps")
        monkeypatch.setattr(stream, "write", lambda text: (_ for _ in ()).throw(error))
        progress.say("a line")
        moved_on(progress, "training", 5, 10, "steps")
        progress.show("training", 10, 10, "steps")


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_process_without_standard_error_draws_nothing(is_closed):
    stream = io.StringIO() if is_closed else None
    if stream is not None:
        stream.close()
    with drawn_on(stream) as progress:
        progress.show("training", 0, 10, "steps")
        progress.say("a line")
