"""A real Apache Kafka broker without ZooKeeper: some of what it does it does only so."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.apache.broker import ApacheBroker, free_port
from conformance.apache.cache import exclusive
from conformance.apache.jvm import run_main

_CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
_WITHOUT = ("broker.id", "zookeeper.connect", "controlled.shutdown.enable")


@dataclass(slots=True)
class KraftBroker(ApacheBroker):
    """A broker that is its own controller."""

    def write_properties(self) -> Path:
        properties = ApacheBroker.write_properties(self)
        controller = f"127.0.0.1:{free_port()}"
        kept = [
            line for line in properties.read_text().splitlines() if not line.startswith(_WITHOUT)
        ]
        kept += [
            "process.roles=broker,controller",
            "node.id=1",
            f"controller.quorum.voters=1@{controller}",
            f"listeners=PLAINTEXT://{self.bootstrap},CONTROLLER://{controller}",
            "controller.listener.names=CONTROLLER",
        ]
        properties.write_text("\n".join(kept))
        arguments = ("format", "--ignore-formatted", "-t", _CLUSTER_ID, "-c", str(properties))
        formatted = run_main("kafka.tools.StorageTool", *arguments, jars=self.jars)
        assert formatted.returncode == 0, formatted.stderr
        return properties


@contextmanager
def kraft_broker(
    directory: Path, settings: Mapping[str, str] | None = None, *, jars: str = "kafka-3.9"
) -> Iterator[KraftBroker]:
    """A running broker of 3.9 or 4 under `directory`; one at a time on this machine."""
    with ExitStack() as stack:
        stack.enter_context(exclusive("broker"))
        directory.mkdir(parents=True)
        broker = KraftBroker(directory, 0, settings or {}, jars=jars)
        stack.callback(broker.kill)
        broker.start()
        yield broker
