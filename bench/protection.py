"""What TLS, logins and access rules cost a broker, against PLAINTEXT and against Apache's.

bin/bench protection [rounds [megabytes]]
bin/bench protection requests [rounds [requests]]

Records of 1 KiB are written and read by librdkafka, in turns through a listener of each protocol
of each broker; the processor time of the broker's process counts, per GB, best of the rounds.
Access rules are on in a broker of their own, which lets anonymous clients in by two rules.
Needs a machine that does nothing else: MB/s depend on the load generator as well.

With `requests`, each record of 100 bytes is a request of its own: so small a request shows most of
what rules and logins cost.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.broker import SINGLE
from bench.brokers import SETTINGS, Contestant
from bench.fresh_memory import touch_free_memory
from bench.librdkafka import run_load
from confluent_kafka import Consumer, Producer, TopicPartition

from certificates import authority, identity
from conformance.apache.broker import ApacheBroker, free_port, zookeeper
from conformance.apache.jvm import AS_SHIPPED
from conformance.our_broker import OurBroker
from moldau import Admin
from moldau.security.acls import Acl, Operation, ResourceType

ROUNDS, MEGABYTES = 5, 200
VALUE = b"x" * 1024
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT")
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@dataclass(frozen=True, slots=True)
class Listening:
    """A broker, and where it listens for each protocol."""

    broker: Contestant
    ports: dict[str, int]


def settings(folder: Path, ports: dict[str, int]) -> dict[str, str]:
    users = 'username="anna" password="sesam" user_anna="sesam"'
    return {
        **SETTINGS,
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{MODULE} required {users};",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
    }


def free_ports() -> dict[str, int]:
    ports: dict[str, int] = {}
    while len(set(ports.values())) < len(PROTOCOLS):
        ports = {name: free_port() for name in PROTOCOLS}
    return ports


@contextmanager
def brokers(folder: Path) -> Iterator[list[Listening]]:
    """Apache's, ours, and ours with access rules."""
    touch_free_memory()
    ca = authority()
    (folder / "ca.pem").write_text(ca.certificate_pem)
    identity(ca, "broker").write(folder / "broker.pem")
    with ExitStack() as stack:
        ports = free_ports()
        zookeeper_port = stack.enter_context(zookeeper(folder / "zookeeper"))
        (folder / "apache").mkdir()
        apache = ApacheBroker(
            folder / "apache", zookeeper_port, settings(folder, ports), AS_SHIPPED
        )
        apache.port = ports["PLAINTEXT"]
        stack.callback(apache.kill)
        apache.start()
        found = [Listening(Contestant("Apache", apache.port, apache.pid, 0), ports)]
        for name, more in (("Moldau", {}), ("Moldau, rules", rules_on())):
            ports = free_ports()
            own = {**settings(folder, ports), **more}
            # A comma in the name would be two log directories.
            ours = OurBroker(folder / f"ours-{len(found)}", own, ports["PLAINTEXT"])
            stack.callback(ours.kill)
            ours.start()
            if more:
                asyncio.run(allow_anonymous(ports["SASL_PLAINTEXT"]))
            found.append(Listening(Contestant(name, ours.port, ours.process_id, 0), ports))
        yield found


def rules_on() -> dict[str, str]:
    return {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:anna",
    }


async def allow_anonymous(port: int) -> None:
    """Rights by rules; Anna, the super user, grants them."""
    login = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "anna",
        "sasl.password": "sesam",
    }
    kinds = (ResourceType.TOPIC, ResourceType.GROUP)
    wanted = [
        Acl(
            resource_type=kind,
            resource_name="*",
            principal="User:ANONYMOUS",
            operation=Operation.ALL,
        )
        for kind in kinds
    ]
    async with Admin(login) as admin:
        (await admin.create_acls(wanted)).check()


def client(folder: Path, listening: Listening, protocol: str) -> dict[str, str | int]:
    own: dict[str, str | int] = {
        "bootstrap.servers": f"127.0.0.1:{listening.ports[protocol]}",
        "security.protocol": protocol,
    }
    if protocol == "SSL":
        own["ssl.ca.location"] = str(folder / "ca.pem")
    if protocol == "SASL_PLAINTEXT":
        own |= {"sasl.mechanism": "PLAIN", "sasl.username": "anna", "sasl.password": "sesam"}
    return own


def write(own: dict[str, str | int], topic: str, count: int) -> None:
    producer = Producer({**own, "acks": 1, "linger.ms": 5, "batch.num.messages": 1000})
    for _ in range(count):
        while True:
            try:
                producer.produce(topic, VALUE, partition=0)
                break
            except BufferError:
                producer.poll(0.05)
    assert producer.flush(300) == 0


def read(own: dict[str, str | int], topic: str, count: int) -> None:
    consumer = Consumer({**own, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    got = 0
    while got < count:
        messages = consumer.consume(min(10_000, count - got), 5.0)
        assert messages, f"{got} of {count} records"
        got += len(messages)
    consumer.close()


def measure(folder: Path, listening: Listening, protocol: str, count: int) -> tuple[float, ...]:
    """Processor seconds per GB, and MB/s: in, then out."""
    own, topic = client(folder, listening, protocol), f"t-{time.monotonic_ns()}"
    found: list[float] = []
    for work in (write, read):
        cpu_s, began_s = listening.broker.cpu_s(), time.monotonic()
        work(own, topic, count)
        gigabytes = count * len(VALUE) / 1e9
        found.append((listening.broker.cpu_s() - cpu_s) / gigabytes)
        found.append(gigabytes * 1000 / (time.monotonic() - began_s))
    return tuple(found)


def small_requests(rounds: int = ROUNDS, count: int = 100_000) -> None:
    """Processor time for each request of a single record, by PLAINTEXT and after a login."""
    spent: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as name, brokers(Path(name)) as found:
        for _ in range(rounds):
            for listening in found:
                for protocol in ("PLAINTEXT", "SASL_PLAINTEXT"):
                    own = client(Path(name), listening, protocol)
                    topic, before_s = f"t-{time.monotonic_ns()}", listening.broker.cpu_s()
                    run_load(
                        *("produce", topic, "100", str(count), "1", "1", "acks=1", *SINGLE),
                        *(f"{setting}={value}" for setting, value in own.items()),
                    )
                    used_s = listening.broker.cpu_s() - before_s
                    spent.setdefault((listening.broker.name, protocol), []).append(used_s)
    print(f"{'broker':14} {'protocol':15} CPU us/request")
    for (broker, protocol), turns in spent.items():
        print(f"{broker:14} {protocol:15} {min(turns) / count * 1e6:10.2f}")


def main(rounds: int = ROUNDS, megabytes: int = MEGABYTES) -> None:
    count = megabytes * 1_000_000 // len(VALUE)
    best: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    with tempfile.TemporaryDirectory() as name, brokers(Path(name)) as found:
        folder = Path(name)
        pairs = [
            (listening, protocol)
            for protocol in PROTOCOLS
            for listening in found
            if protocol == "PLAINTEXT" or listening.broker.name != "Moldau, rules"
        ]
        for _ in range(rounds):
            for listening, protocol in pairs:
                turn = measure(folder, listening, protocol, count)
                best.setdefault((listening.broker.name, protocol), []).append(turn)
    print(f"{'broker':14} {'protocol':15} CPU s/GB in, out   MB/s in, out")
    for (broker, protocol), turns in best.items():
        cpu_in, cpu_out = (min(turn[at] for turn in turns) for at in (0, 2))
        rate_in, rate_out = (max(turn[at] for turn in turns) for at in (1, 3))
        rates = f"{rate_in:7.0f} {rate_out:6.0f}"
        print(f"{broker:14} {protocol:15} {cpu_in:7.2f} {cpu_out:7.2f}   {rates}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["requests"]:
        small_requests(*map(int, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:]))
