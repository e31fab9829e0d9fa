"""The fastest way is found by timing, and found again when it changes."""

from elmo.engine.autotune import Autotuner


class Machine:
    """A clock, and variants that take as long as they are told."""

    def __init__(self, seconds):
        self.now, self.seconds, self.taken = 0.0, seconds, []

    def variants(self):
        return [lambda way=way: self._take(way) for way in range(len(self.seconds))]

    def _take(self, way):
        self.taken.append(way)
        self.now += self.seconds[way]


def test_the_fastest_way_is_taken_after_all_were_tried():
    machine = Machine([3.0, 2.0, 5.0])
    variants = Autotuner(lambda: machine.now)
    for _ in range(1000):
        variants.run("work", 1, machine.variants())
    assert set(machine.taken) == {0, 1, 2}
    assert machine.taken.count(1) > 950


def test_times_are_those_of_a_unit_of_work_and_kinds_are_kept_apart():
    machine, other = Machine([1.0, 9.0]), Machine([9.0, 1.0])
    variants = Autotuner(lambda: machine.now + other.now)
    for turn in range(60):
        machine.seconds = [1.0 * (1 + turn % 7), 9.0 * (1 + turn % 7)]
        variants.run("one", 1 + turn % 7, machine.variants())
        variants.run("other", 1, other.variants())
    assert set(machine.taken[6:]) == {0}
    assert set(other.taken[6:]) == {1}


def test_a_call_that_was_held_up_does_not_decide():
    machine = Machine([1.0, 1.5])
    variants = Autotuner(lambda: machine.now)
    for turn in range(200):
        machine.seconds[0] = 50.0 if turn % 10 == 9 else 1.0
        variants.run("work", 1, machine.variants())
    assert machine.taken.count(1) < 10


def test_more_threads_must_be_clearly_faster():
    machine = Machine([1.0, 0.95, 0.97])
    variants = Autotuner(lambda: machine.now)
    for _ in range(200):
        variants.run("work", 1, machine.variants())
    assert machine.taken[-100:].count(0) > 90


def test_a_hopeless_way_is_seldom_tried():
    machine = Machine([1.0, 5.0, 20.0])
    variants = Autotuner(lambda: machine.now)
    for _ in range(5000):
        variants.run("work", 1, machine.variants())
    assert machine.taken[:5] == [0, 0, 0, 1, 2]
    spent = sum(seconds * machine.taken.count(way) for way, seconds in enumerate(machine.seconds) if way)
    assert spent < 0.03 * machine.now + 25


def test_a_way_that_becomes_faster_is_found():
    machine = Machine([1.0, 2.0])
    variants = Autotuner(lambda: machine.now)
    for _ in range(100):
        variants.run("work", 1, machine.variants())
    machine.seconds = [4.0, 0.5]
    for _ in range(1000):
        variants.run("work", 1, machine.variants())
    assert machine.taken[-50:].count(1) >= 49


def test_a_first_call_that_takes_long_does_not_decide():
    machine = Machine([100.0, 2.0])
    variants = Autotuner(lambda: machine.now)
    variants.run("work", 1, machine.variants())
    machine.seconds = [1.0, 2.0]
    for _ in range(20):
        variants.run("work", 1, machine.variants())
    assert machine.taken[-1] == 0
