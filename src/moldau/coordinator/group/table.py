"""The groups of one partition of `__consumer_offsets`, of either protocol, by their ids."""

from collections.abc import Iterator, Sequence

from moldau.coordinator.decision import RecordSource
from moldau.coordinator.group.attendance import Surroundings, TimerKey
from moldau.coordinator.group.compiled import Offsets
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.machine import ConsumerMachine
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.machine import GroupMachine
from moldau.coordinator.group.records import GroupsRecord, OffsetRecord
from moldau.coordinator.group.state import GroupState
from moldau.runtime.clock import Moment

AnyMachine = GroupMachine | ConsumerMachine


class GroupTable:
    """Makes groups, ends them, and lets one protocol succeed the other.

    Whatever becomes of a group, its offsets stay until they are deleted themselves.
    """

    __slots__ = ("_around", "_machines")

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._machines: dict[str, AnyMachine] = {}

    def __len__(self) -> int:
        return len(self._machines)

    def __iter__(self) -> Iterator[AnyMachine]:
        return iter(self._machines.values())

    def find(self, group_id: str) -> AnyMachine | None:
        """A group, of whichever protocol."""
        return self._machines.get(group_id)

    def classic(self, group_id: str) -> GroupMachine | None:
        """A group, if it is of the classic protocol."""
        machine = self._machines.get(group_id)
        return machine if isinstance(machine, GroupMachine) else None

    def consumer(self, group_id: str) -> ConsumerMachine | None:
        """A group, if it is of the consumer protocol."""
        machine = self._machines.get(group_id)
        return machine if isinstance(machine, ConsumerMachine) else None

    def succeed(self, group_id: str, *, now: Moment) -> GroupMachine:
        """A new group of the classic protocol, in the place of whatever is there."""
        group = Group(group_id, wall_ms=now.wall_ms, offsets=self._take_offsets(group_id))
        machine = self._machines[group_id] = GroupMachine(group, self._around)
        return machine

    def store(
        self, records: Sequence[GroupsRecord], first: OffsetRecord, source: RecordSource
    ) -> int:
        """Take in the offsets of one group that records begin with; returns how many these are."""
        if first.committed is None:
            return 0
        machine = self.find(first.group_id) or self.succeed(first.group_id, now=source.moment)
        return machine.group.offsets.store(records, OffsetRecord, source.log_offset)

    def succeed_as_consumer(self, group_id: str) -> ConsumerMachine:
        """A new group of the consumer protocol, in the place of whatever is there."""
        group = ConsumerGroup(group_id, self._take_offsets(group_id))
        machine = self._machines[group_id] = ConsumerMachine(group, self._around)
        return machine

    def end(self, machine: AnyMachine, *, now: Moment) -> None:
        """A group is over; if it has offsets, they are all that is left of it."""
        if machine.group.offsets:
            self.succeed(machine.group.group_id, now=now)
        else:
            self._retire(machine)

    def drop_if_hollow(self, machine: AnyMachine) -> None:
        """A group that never had a generation is nothing but its offsets."""
        group = machine.group
        is_simple = isinstance(group, Group) and group.generation == 0
        if is_simple and group.state is GroupState.EMPTY and not group.offsets:
            self._retire(machine)

    def _take_offsets(self, group_id: str) -> Offsets:
        machine = self._machines.get(group_id)
        if machine is None:
            return Offsets()
        self._retire(machine)
        return machine.group.offsets

    def _retire(self, machine: AnyMachine) -> None:
        """No request waits for the group any more, and it waits for no member."""
        group_id = machine.group.group_id
        if isinstance(machine, ConsumerMachine):
            machine.forget_deadlines()
        else:
            machine.unload()
            for member_id in (None, *machine.group.members, *machine.group.pending_ids):
                self._around.timers.cancel(TimerKey(group_id, member_id))
        del self._machines[group_id]
