"""F38: many faults, one after the other, on brokers that have not yet recovered from the last."""

import os
import random
import signal
import time
from collections.abc import Callable

from faults.fault import fault
from faults.stage import LAG_S, SESSION_S, ZOOKEEPER, Stage, party

_FAULTS = 12
_LONGEST_S = 2 * SESSION_S
# Who waits for an answer that does not come gives up after so long.
_TIMEOUTS = {"replica.socket.timeout.ms": "3000", "controller.socket.timeout.ms": "3000"}


@fault(is_linked=True, settings=_TIMEOUTS, pause_max_s=None)
def f38(stage: Stage) -> None:
    """A dozen faults of all kinds follow each other, on brokers drawn by lot, before the last one
    is overcome."""
    for index in range(stage.rounds):
        nemesis = Nemesis(stage, random.Random(index))
        try:
            for _ in range(_FAULTS):
                nemesis.strike()
        finally:
            nemesis.relent()
        stage.load.until_more()
        stage.until_whole()


class Nemesis:
    """Knows what it has done to whom, so that it can be undone."""

    def __init__(self, stage: Stage, chance: random.Random) -> None:
        self._stage = stage
        self._chance = chance
        self._paused: set[int] = set()
        self._killed: set[int] = set()
        self._deeds: tuple[Callable[[int], None], ...] = (
            self._kill,
            self._stop,
            self._pause,
            self._cut_from_tree,
            self._cut_from_others,
            self._mute,
        )

    def strike(self) -> None:
        """Do something to somebody, for a while; sometimes it is still so when the next comes."""
        number = self._chance.choice(list(self._stage.cluster.brokers))
        if number in self._paused | self._killed:
            self._help(number)
        else:
            self._chance.choice(self._deeds)(number)
        time.sleep(self._chance.uniform(0.1, _LONGEST_S))
        if self._chance.random() < 0.3:
            self._stage.links.mend()
        time.sleep(self._chance.uniform(0, LAG_S))

    def relent(self) -> None:
        """Undo everything."""
        self._stage.links.mend()
        for number in sorted(self._paused | self._killed):
            self._help(number)

    def _help(self, number: int) -> None:
        broker = self._stage.cluster.brokers[number]
        if number in self._paused:
            os.kill(broker.process_id, signal.SIGCONT)
            self._paused.discard(number)
        else:
            # Without ZooKeeper it could not come back.
            self._stage.links.mend()
            broker.start()
            self._killed.discard(number)

    def _kill(self, number: int) -> None:
        self._stage.kill(number)
        self._killed.add(number)

    def _stop(self, number: int) -> None:
        # Who cannot hand over would take its time.
        self._stage.links.mend()
        if not self._paused:
            self._stage.cluster.brokers[number].stop()
            self._killed.add(number)

    def _pause(self, number: int) -> None:
        os.kill(self._stage.cluster.brokers[number].process_id, signal.SIGSTOP)
        self._paused.add(number)

    def _cut_from_tree(self, number: int) -> None:
        self._stage.links.cut(party(number), ZOOKEEPER)

    def _cut_from_others(self, number: int) -> None:
        self._stage.links.cut(party(number), *map(party, self._stage.others(number)))

    def _mute(self, number: int) -> None:
        for other in self._stage.others(number):
            self._stage.links.mute(party(number), party(other))
