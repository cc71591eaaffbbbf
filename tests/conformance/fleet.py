"""Members of a group in Java processes, which are polled all the time."""

import time
from collections.abc import Callable, Mapping
from itertools import chain

from conformance.apache.lines import JavaProgram, Json
from conformance.our_broker import OurBroker
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.testing.wire import WireClient

DEADLINE_S = 40


class Fleet:
    """Members of one group, in a Java process."""

    def __init__(self, java: JavaProgram, broker: OurBroker, group: str) -> None:
        self.java = java
        self.broker = broker
        self.group = group
        self.running: dict[str, JavaProgram] = {}

    def start(
        self,
        name: str,
        *topics: str,
        regex: str | None = None,
        java: JavaProgram | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """A member that subscribes to topics, or to what matches a pattern.

        In the consumer protocol the broker knows what matches, in the classic one the client.
        """
        self.running[name] = java or self.java
        settings = {"group.protocol": "consumer", **(settings or {})}
        matching = "regex" if settings["group.protocol"] == "consumer" else "pattern"
        subscription = {"topics": topics} if regex is None else {matching: regex}
        self.running[name].call(
            "start",
            member=f"{self.group}-{name}",
            bootstrap=self.broker.bootstrap,
            settings={
                "group.id": self.group,
                "auto.offset.reset": "earliest",
                "metadata.max.age.ms": "500",
                **settings,
            },
            **subscription,
        )

    def partitions(self, name: str) -> list[str]:
        found: list[str] = self._seen(name)["partitions"]
        return found

    def revoked(self, name: str) -> list[str]:
        """What a member has had to give away so far."""
        found: list[str] = self._seen(name)["revoked"]
        return found

    def _seen(self, name: str) -> Json:
        seen = self.running[name].call("seen", member=f"{self.group}-{name}")
        assert seen["problem"] is None, seen["problem"]
        return seen

    def stop(self, name: str) -> list[str]:
        """Close a member; returns what it has read."""
        seen = self.running.pop(name).call("stop", member=f"{self.group}-{name}")
        assert seen["problem"] is None, seen["problem"]
        values: list[str] = seen["values"]
        return values

    def until_shared(self, *expected: str) -> None:
        """Wait until every partition has one owner, and every member owns some."""

        def is_shared() -> bool:
            shares = [self.partitions(name) for name in self.running]
            return sorted(chain(*shares)) == sorted(expected) and all(shares)

        until(is_shared)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.05)


def create_topic(broker: OurBroker, name: str, partition_count: int = 4) -> list[str]:
    """Returns the partitions as Java names them."""
    topic = CreatableTopic(
        name=name, num_partitions=partition_count, replication_factor=1, assignments=[], configs=[]
    )
    with WireClient(broker.bootstrap) as client:
        client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 5)
    return [f"{name}-{number}" for number in range(partition_count)]
