"""Parts of seeds: each does what it is there for, in a seed that is run alone."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from moldau.broker.context import Client
from moldau.broker.quotas.client_sensors import ClientSensors
from moldau.broker.quotas.enforcement import Enforcement
from moldau.replication.partition import Partition
from simulation.client import TOPIC
from simulation.history import History, Outcome
from simulation.scenario import play_with_history
from simulation.shapes import SHAPES, Shape
from simulation.tables import acknowledged_records

NEVER = 2**63 - 1
SEED = 1
# In seed 1 a follower and a leader that lost power part for good: see docs/reliability.md.
SYNCING_SEED = 2


@pytest.mark.parametrize("shape", SHAPES[3])
def test_in_each_seed_some_records_are_synced_at_once_and_some_later(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[int, None] = {}
    append_batch = Partition.append_batch

    def noted(self: Partition, *arguments: Any, **options: Any) -> Any:
        if not self.topic_partition.topic.startswith("__"):
            seen[self.log.config.flush_messages] = None
        return append_batch(self, *arguments, **options)

    monkeypatch.setattr(Partition, "append_batch", noted)
    verdict, _ = play_with_history(SYNCING_SEED, replace(shape, parts=("mixed syncing",)))
    assert sorted(seen) == [1, NEVER]
    assert verdict.violations == []


def played_with(part: str) -> History:
    """The history of a good seed with a single part."""
    verdict, history = play_with_history(SEED, replace(SHAPES[3][1], parts=(part,)))
    assert verdict.violations == []
    return history


def test_topics_come_again_under_their_names_and_grow() -> None:
    lives = played_with("lives of topics").incarnations
    names = [life.name.partition("/")[0] for life in lives]
    assert len(set(names)) < len(names)
    assert len({life.topic_id for life in lives}) == len(lives)
    assert max(life.partition_count for life in lives) > 1
    assert all(life.read for life in lives)


def test_partitions_are_moved_to_other_brokers_and_back() -> None:
    history = played_with("moves")
    assigned = [assigned for assigned in history.assignments if assigned[0] == TOPIC]
    assert len({replicas for _, replicas in assigned}) > 2


def test_logs_are_compacted() -> None:
    history = played_with("compaction")
    written = len(acknowledged_records(history))
    assert written > 100
    assert all(0 < len(records) < written / 2 for records in history.tables.values())


def test_partitions_go_from_member_to_member_of_a_reconciled_group() -> None:
    owned = played_with("reconciliation").owned
    assert {one.partition for one in owned} == {0, 1, 2}
    assert len({one.member for one in owned}) == 3
    assert len(owned) >= 10


def test_own_clients_write_and_read() -> None:
    history = played_with("own clients")
    written = [write for write in history.writes if write.producer == "own-producer"]
    assert len(written) > 100
    assert all(write.outcome is Outcome.DONE for write in written)
    readers = {read.reader for read in history.reads if read.reader.startswith("own-")}
    assert readers == {"own-consumer-all", "own-consumer-committed"}


def test_clients_are_slowed_down_by_quotas(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: Counter[str] = Counter()
    sensors_of = Enforcement.sensors_of

    def noting(self: Enforcement, asking: Client, client_id: str) -> ClientSensors:
        if asking.sensors is None:  # the first time
            mute = asking.mute

            def muting(throttle_ms: int) -> None:
                sensor = asking.sensors and asking.sensors.produce
                is_now = sensor and sensor.last_throttled_ms == self.clock.monotonic_ms()
                waits["producers" if is_now else "consumers"] += 1
                mute(throttle_ms)

            asking.mute = muting
        return sensors_of(self, asking, client_id)

    monkeypatch.setattr(Enforcement, "sensors_of", noting)
    played_with("quotas")
    assert waits["producers"] > 5
    assert waits["consumers"] > 5


def test_everyone_logs_in_and_who_has_no_rights_is_denied() -> None:
    assert played_with("logins and rules").denied_count > 10
