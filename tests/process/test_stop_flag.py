"""When a signal ends a run."""

import signal

import pytest

from elmo.process.stop_flag import StopFlag, StopRequested


def test_before_there_is_anything_to_save_a_signal_ends_at_once():
    flag = StopFlag()
    with pytest.raises(KeyboardInterrupt), flag.at_once():
        flag(signal.SIGTERM, None)
    assert flag.signal == signal.SIGTERM
    with pytest.raises(KeyboardInterrupt), flag.at_once():
        raise AssertionError("the signal had come before")
    later = StopFlag()
    with later.at_once():
        pass
    later(signal.SIGTERM, None)
    with pytest.raises(StopRequested):
        later.check()
