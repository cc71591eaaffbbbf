"""Groups of either protocol."""

from moldau.coordinator.group.attendance import TimerKey
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.coordinator.group.consumer.records import MemberRecord
from moldau.coordinator.group.messages import Committed
from moldau.coordinator.group.table import GroupTable
from moldau.model import TopicPartition
from unit.coordinator.group.samples import NOW, joining, surroundings

T = TopicPartition("t", 0)
A = ConsumerMember(member_id="a")


def test_offsets_stay_when_the_protocol_changes() -> None:
    around = surroundings()
    table = GroupTable(around)
    classic = table.succeed("g", now=NOW)
    classic.group.offsets.committed[T] = Committed(7)
    decision = classic.join(joining("a"), now=NOW)
    consumer = table.succeed_as_consumer("g")
    assert decision.reply in around.answered, "who was parked is told"
    assert around.timers.next_deadline_ms() is None
    assert (table.consumer("g"), table.classic("g"), len(table)) == (consumer, None, 1)
    assert consumer.group.offsets.committed[T].offset == 7
    consumer.apply(MemberRecord("g", "a", A), now=NOW)
    assert around.timers.deadline_ms(TimerKey("g", "a")) is not None
    table.end(consumer, now=NOW)
    simple = table.classic("g")
    assert simple is not None
    assert simple.group.offsets.committed[T].offset == 7
    assert around.timers.next_deadline_ms() is None


def test_what_has_no_offsets_is_gone_at_its_end() -> None:
    table = GroupTable(surroundings())
    table.end(table.succeed_as_consumer("g"), now=NOW)
    table.end(table.succeed("h", now=NOW), now=NOW)
    assert list(table) == []
    assert table.find("g") is None


def test_only_groups_that_never_came_to_be_are_hollow() -> None:
    table = GroupTable(surroundings())
    table.drop_if_hollow(table.succeed_as_consumer("consumer"))
    joined = table.succeed("joined", now=NOW)
    joined.join(joining("a"), now=NOW)
    stored = table.succeed("stored", now=NOW)
    stored.group.generation = 1
    for machine in (joined, stored, table.succeed("hollow", now=NOW)):
        table.drop_if_hollow(machine)
    assert [machine.group.group_id for machine in table] == ["consumer", "joined", "stored"]
