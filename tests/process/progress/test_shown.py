"""Progress on a terminal, as it is seen there; and where nothing can be redrawn: lines, seldom."""

import io
import re
import time

import pytest

from elmo.process.progress import shown
from elmo.process.progress.shown import ProgressLines, drawn_on


def moved_on(progress, what, done, total, unit, note=""):
    """A report that is surely drawn: tqdm leaves out those that come too fast."""
    time.sleep(0.11)
    progress.show(what, done, total, unit, note)


@pytest.fixture
def quick_pace(monkeypatch):
    """A speed is told at once."""
    monkeypatch.setattr(shown, "_YOUNG", 0.05)


def test_a_bar_has_percent_amount_speed_and_time_left(terminal, quick_pace):
    with drawn_on(terminal) as progress:
        progress.show("embedding", 0, 100_000, "tokens")
        moved_on(progress, "embedding", 25_000, 100_000, "tokens", "loss 2.5")
        assert shown.tqdm.monitor is None, "tqdm's thread would be waited for at the end of the process"
        line = terminal.screen[-1]
        assert re.fullmatch(
            r"embedding:  25%\|.+\| 25.0k of 100k tokens \[00:\d\d<00:\d\d, [\d.]+k?tokens/s, loss 2.5\]", line
        ), line
        progress.show("embedding", 100_000, 100_000, "tokens")
        assert terminal.screen[-1] == ""
        assert terminal.screen[0].startswith("embedding: 100%")


def test_a_bar_that_has_just_begun_has_no_speed_to_tell(terminal):
    with drawn_on(terminal) as progress:
        progress.show("embedding", 0, 100, "tokens")
        moved_on(progress, "embedding", 1, 100, "tokens", "loss 2.9")
        assert terminal.screen[-1].endswith("| 1 of 100 tokens [00:00, loss 2.9]")


def test_without_a_total_there_is_no_bar(terminal, quick_pace):
    with drawn_on(terminal) as progress:
        progress.show("scoring", 0, None, "sentences")
        moved_on(progress, "scoring", 1, None, "sentences")
        moved_on(progress, "scoring", 12, None, "sentences")
        assert re.fullmatch(r"scoring: 12 sentences \[00:\d\d, *[\d.]+sentences/s\]", terminal.screen[-1])


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
    # tqdm doesn't know of a bar whose first drawing did not come to its end.
    monkeypatch.setattr(shown, "_UNSEEN", 0.01)

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
    monkeypatch.setattr(shown, "_UNSEEN", 60)
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


class Log:
    """Lines, and a clock that stands still until it is moved."""

    def __init__(self):
        self.stream, self.now = io.StringIO(), 100.0
        self.progress = ProgressLines(self.stream, clock=lambda: self.now)

    @property
    def lines(self):
        return self.stream.getvalue().splitlines()


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.mark.parametrize(
    ("reports", "line"),
    [
        # Seconds since the report before, done, total, unit, note.
        (
            [(0, 0, 4_000_000, "tokens"), (0, 500_000, 4_000_000, "tokens"), (50, 1_000_000, 4_000_000, "tokens", "!")],
            "25%, 1.00M of 4.00M tokens [00:50<02:30, 20.0ktokens/s, !]",
        ),
        (
            [(0, 0, 40, "tokens"), (8, 10, 40, "tokens"), (8, 40, 40, "tokens")],
            "100%, 40 of 40 tokens [00:16<00:00,  2.50tokens/s]",
        ),
        # What an earlier run did is no speed.
        (
            [(0, 900, 1000, "steps"), (0, 901, 1000, "steps"), (18, 910, 1000, "steps")],
            "91%, 910 of 1000 steps [00:18<02:42,  1.80s/steps]",
        ),
        ([(0, 0, None, "bytes"), (0, 1, None, "bytes"), (10, 5_000_000, None, "bytes")], "5.00MB [00:10, 500kB/s]"),
        # A stage that has just begun has no speed to tell.
        (
            [(60, 0, 100, "bytes"), (0.1, 50, 100, "bytes"), (4.9, 60, 100, "bytes")],
            "60%, 60.0B of 100B [00:05<00:03, 12.0B/s]",
        ),
        ([(0, 0, 10, "rows"), (11, 12, 10, "rows")], "100%, 12 of 12 rows [00:11<00:00,  1.09rows/s]"),
    ],
)
def test_a_line_has_percent_speed_and_the_time_left(log, reports, line):
    for seconds, *report in reports:
        log.now += seconds
        assert log.lines == []
        log.progress.show("reading", *report)
    log.progress.close()
    assert log.lines == [f"reading: {line}"]


def test_lines_are_at_least_ten_seconds_apart_and_become_rare(log):
    written = []
    log.progress.show("training", 0, 10**9, "steps")
    for step in range(1, 200_000):  # more than two days
        log.now += 1
        log.progress.show("training", step, 10**9, "steps")
        if len(log.lines) > len(written):
            written.append(log.now)
    pauses = [later - earlier for earlier, later in zip(written, written[1:], strict=False)]
    assert min(pauses) >= 10
    assert max(pauses) <= 600
    assert 300 < len(written) < 450


def test_in_whatever_order_stages_report_lines_are_ten_seconds_apart(log):
    for second in range(60):
        for stage in range(20):
            log.progress.show(f"stage {stage}", second, 60, "steps")
        log.now += 1
    assert len(log.lines) == 5


def test_a_line_says_something_new(log):
    for _ in range(1000):
        log.progress.show("trainings", 0, 2, "trainings")
        log.now += 1
    assert log.lines == []
    log.progress.show("trainings", 1, 2, "trainings")
    for _ in range(1000):
        log.now += 1
        log.progress.show("trainings", 1, 2, "trainings")
    assert log.lines == ["trainings: 50%, 1 of 2 trainings [16:40<16:40, 1000.00s/trainings]"]


def test_what_takes_less_than_ten_seconds_writes_nothing(log):
    for number in range(100):
        log.progress.show(f"stage {number}", 0, 2, "tokens")
        log.now += 0.05
        log.progress.show(f"stage {number}", 2, 2, "tokens")
    log.progress.close()
    assert log.lines == []
