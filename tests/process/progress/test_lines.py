"""Progress where nothing can be redrawn: lines, seldom."""

import io

import pytest

from elmo.process.progress.lines import ProgressLines


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


def test_a_line_has_percent_speed_and_the_time_left(log):
    log.progress.show("embedding", 0, 4_000_000, "tokens")
    log.progress.show("embedding", 500_000, 4_000_000, "tokens")
    log.now += 50
    log.progress.show("embedding", 1_000_000, 4_000_000, "tokens", "loss 2.5")
    assert log.lines == ["embedding: 25%, 1.00M of 4.00M tokens, 10.0k tokens/s, 0:05:00 left; loss 2.5"]
    log.now += 350
    log.progress.show("embedding", 4_000_000, 4_000_000, "tokens")
    assert log.lines[1:] == ["embedding: 4.00M tokens in 0:06:40, 10.0k tokens/s"]
    log.progress.close()
    assert len(log.lines) == 2


def test_what_an_earlier_run_did_is_no_speed(log):
    log.progress.show("training", 900, 1000, "steps")
    log.progress.show("training", 901, 1000, "steps")
    log.now += 18
    log.progress.show("training", 910, 1000, "steps")
    assert log.lines == ["training: 91%, 910 of 1,000 steps, 2.0 s each, 0:03:00 left"]


def test_without_a_total_there_is_no_percent(log):
    log.progress.show("reading", 0, None, "bytes")
    log.progress.show("reading", 1, None, "bytes")
    log.now += 10
    log.progress.show("reading", 5_000_000, None, "bytes")
    assert log.lines == ["reading: 5.00MB, 500kB/s"]


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
    assert log.lines == ["trainings: 50%, 1 of 2 trainings"]


def test_what_is_loaded_before_the_first_unit_is_no_time_of_a_unit(log):
    log.progress.show("embedding", 0, 775, "sentences")
    log.now += 15
    log.progress.show("embedding", 1, 775, "sentences")
    assert log.lines == ["embedding: 0%, 1 of 775 sentences"]
    log.now += 10
    log.progress.show("embedding", 101, 775, "sentences")
    assert log.lines[1:] == ["embedding: 13%, 101 of 775 sentences, 10.0 sentences/s, 0:01:07 left"]


def test_what_takes_less_than_ten_seconds_writes_nothing(log):
    for number in range(100):
        log.progress.show(f"stage {number}", 0, 2, "tokens")
        log.now += 0.05
        log.progress.show(f"stage {number}", 2, 2, "tokens")
    log.progress.close()
    assert log.lines == []


def test_a_stage_that_has_just_begun_has_no_speed_to_tell(log):
    log.now += 60
    log.progress.show("reading", 0, 100, "bytes")
    log.now += 0.1
    log.progress.show("reading", 50, 100, "bytes")
    assert log.lines == []
    log.now += 2
    log.progress.show("reading", 60, 100, "bytes")
    assert log.lines == ["reading: 60%, 60.0B of 100B, 5.00B/s, 0:00:08 left"]


def test_a_line_to_stay_is_written_at_once(log):
    log.progress.say("step 5: perplexity 100")
    assert log.lines == ["step 5: perplexity 100"]


def test_an_operation_that_breaks_off_says_how_far_it_came(log):
    log.progress.show("reading", 0, 50, "bytes")
    log.now += 12
    log.progress.close()
    assert log.lines == ["reading: 0.00B in 0:00:12"]


def test_more_than_the_total_is_no_error(log):
    log.progress.show("reading", 0, 0, "bytes")
    log.progress.show("checking", 0, 10, "rows")
    log.now += 11
    log.progress.show("checking", 12, 10, "rows")
    assert log.lines == ["checking: 12 rows in 0:00:11, 1.1 rows/s"]
