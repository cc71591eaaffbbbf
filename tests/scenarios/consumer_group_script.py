"""Plays transcripts about a group of the consumer protocol; see `group_script` for the form.

Members of the consumer protocol have these commands, those of the classic protocol the ones
of `group_script`. What a member was told it has from its next `ack` on.

    topics t=4 u=2                             all topics of the cluster, with partitions
    enter a topics=t+u                         pattern=t.*, instance=i, assignor=range
    beat a                                     epoch= (else the one last heard), topics=
    ack a                                      the same, telling what it has
    exit a | pause a                           leave, or for a while (static members)
    show                                       the group, its epochs and members
"""

from moldau.coordinator.group.consumer.assignment import NOTHING, Assignment
from moldau.coordinator.group.consumer.messages import Heartbeat
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.messages import JoinReply
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.metadata.image import ClusterImage, PartitionImage, TopicImage
from moldau.runtime.waiters import Waiters
from scenarios.group_script import GROUP, GroupScript


class ConsumerGroupScript(GroupScript):
    """One group, which may change its protocol."""

    def __init__(self) -> None:
        self.image = ClusterImage()
        self.epochs: dict[str, int] = {}
        self.instances: dict[str, str | None] = {}
        self.has: dict[str, Assignment] = {}
        super().__init__()

    def _shard(self) -> Shard[Groups]:
        machine = Groups(self.config, lambda: self.image)
        return Shard(machine, self.journal, ShardPorts(self.clock, Waiters(), 5.0))

    def _set(self, plain: list[str], options: dict[str, str]) -> str:
        super()._set(plain, options)
        self.shard.begin()
        return ""

    def _topics(self, _: list[str], options: dict[str, str]) -> str:
        topics = {
            name: TopicImage(
                name,
                name.encode().ljust(16, b"\0"),
                {number: PartitionImage(0, 0, (0,), (0,)) for number in range(int(count))},
            )
            for name, count in options.items()
        }
        names_by_id = {topic.topic_id: name for name, topic in topics.items()}
        self.image = ClusterImage(0, {}, topics, names_by_id)
        return ""

    def _enter(self, plain: list[str], options: dict[str, str]) -> str:
        (name,) = plain
        self.instances[name] = options.get("instance")
        pattern = options.get("pattern")
        names = options.get("topics", "t" if pattern is None else "")
        heartbeat = Heartbeat(
            member_id=name,
            epoch=0,
            instance_id=self.instances[name],
            rebalance_timeout_ms=20_000,
            topic_names=tuple(filter(None, names.split("+"))),
            topic_pattern=pattern,
            assignor=options.get("assignor"),
            owned=NOTHING,
            must_have_id=True,
        )
        return self._say(heartbeat)

    def _beat(self, plain: list[str], options: dict[str, str]) -> str:
        return self._say(self._alive(plain[0], options))

    def _ack(self, plain: list[str], options: dict[str, str]) -> str:
        return self._say(self._alive(plain[0], options, self.has.get(plain[0], NOTHING)))

    def _exit(self, plain: list[str], _: dict[str, str]) -> str:
        return self._say(self._alive(plain[0], {"epoch": "-1"}))

    def _pause(self, plain: list[str], _: dict[str, str]) -> str:
        return self._say(self._alive(plain[0], {"epoch": "-2"}))

    def _alive(
        self, name: str, options: dict[str, str], owned: Assignment | None = None
    ) -> Heartbeat:
        return Heartbeat(
            member_id=name,
            epoch=int(options.get("epoch", self.epochs.get(name, 1))),
            instance_id=self.instances.get(name),
            topic_names=tuple(options["topics"].split("+")) if "topics" in options else None,
            owned=owned,
        )

    def _say(self, heartbeat: Heartbeat) -> str:
        decision = self.shard.machine.consumer_heartbeat(GROUP, heartbeat, now=self.now)
        self.shard.write(decision)
        reply = decision.reply
        if heartbeat.epoch < 0:
            return "ok"
        self.epochs[reply.member_id] = self.generations[reply.member_id] = reply.epoch
        if reply.assignment is None:
            return f"epoch {reply.epoch}"
        self.has[reply.member_id] = reply.assignment
        return f"epoch {reply.epoch}, {named(reply.assignment)}"

    def _joined(self, name: str, reply: JoinReply) -> str:
        """The coordinator leads: no member does."""
        return super()._joined(name, reply).removesuffix(", leader ")

    def _show(self, *_: object) -> str:
        group = self.shard.machine.describe_consumer(GROUP)
        members = [
            f"{each.member.member_id}@{each.member.epoch} {named(each.member.assigned)}"
            for each in group.members
        ]
        epochs = f"{group.state} {group.epoch}/{group.assignment_epoch} {group.assignor}"
        return ": ".join(filter(None, [epochs, ", ".join(members)]))


def named(assignment: Assignment) -> str:
    """`t-0 t-1`"""
    names = [
        "-".join((topic_id.strip(b"\0").decode(), str(number)))
        for topic_id, numbers in assignment.items()
        for number in numbers
    ]
    return " ".join(names) or "nothing"
