"""What is written to the tree while a fault is played: leaders, in-sync sets, controllers."""

import threading
import time
from contextlib import suppress

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError

from faults.load import PARTITIONS
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionStateNode
from moldau.model import TopicPartition
from simulation.client import TOPIC
from simulation.history import History, Leadership

_LOOK_S = 0.05


class Observer:
    """Looks again and again, and notes what is new."""

    def __init__(self, connect: str, history: History) -> None:
        self.states: dict[int, list[PartitionStateNode]] = {
            number: [] for number in range(PARTITIONS)
        }
        self._history = history
        self._tree = KazooClient(connect, connection_retry={"max_tries": -1, "max_delay": 0.5})
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def in_sync_sets(self, partition: int = 0) -> list[tuple[int, ...]]:
        """The in-sync sets that a partition has had, each once in a row."""
        found: list[tuple[int, ...]] = []
        for state in list(self.states[partition]):
            if not found or found[-1] != state.isr:
                found.append(state.isr)
        return found

    def close(self) -> None:
        """Look no more."""
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        self._tree.start()
        while not self._is_over.is_set():
            # Without ZooKeeper there is nothing new.
            with suppress(KazooException):
                self._look()
            time.sleep(_LOOK_S)
        self._tree.stop()
        self._tree.close()

    def _look(self) -> None:
        for number, states in self.states.items():
            partition = TopicPartition(TOPIC, number)
            try:
                data, _ = self._tree.get(topic_nodes.state_path(partition))
            except NoNodeError:
                continue
            state = topic_nodes.decode_state(data)
            if not states or states[-1] != state:
                states.append(state)
                known = Leadership(str(partition), state.leader_epoch, state.leader)
                self._history.leaderships.append(known)
        data, _ = self._tree.get(controller_nodes.EPOCH_PATH)
        epoch = controller_nodes.decode_epoch(data)
        if epoch not in self._history.controller_epochs[-1:]:
            self._history.controller_epochs.append(epoch)
