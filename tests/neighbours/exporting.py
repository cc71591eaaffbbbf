"""kafka_exporter shows the lag of a group, as the broker's own metrics do."""

import shutil
import urllib.request
from pathlib import Path
from urllib.error import URLError

from conformance.apache.broker import free_port
from conformance.our_broker import our_broker
from moldau.client.blocking import Consumer, Producer
from neighbours.copied import running, wait_until

PROGRAM = "kafka_exporter"
WRITTEN, READ = 10, 4
LABELS = 'consumergroup="billing",partition="0",topic="orders"'
LAG = f"kafka_consumergroup_lag{{{LABELS}}} {WRITTEN - READ}"


class Missing(Exception):
    """What is to be tried is not on this machine, and cannot be downloaded."""


def export_lag(directory: Path) -> None:
    """Run the program that is in PATH: it is released as a binary, and not as a package."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise Missing(f"there is no {PROGRAM} in PATH")
    with our_broker(directory / "broker") as broker:
        read_some(broker.bootstrap)
        address = f"127.0.0.1:{free_port()}"
        command = [program, f"--kafka.server={broker.bootstrap}", f"--web.listen-address={address}"]
        with running(command, directory) as log:
            wait_until(lambda: LAG in page(address), log)


def read_some(bootstrap: str) -> None:
    """A group that is behind: it has committed some of the records."""
    with Producer(bootstrap_servers=bootstrap) as producer:
        for number in range(WRITTEN):
            producer.send("orders", f"order {number}")
    with Consumer(
        bootstrap_servers=bootstrap,
        group_id="billing",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    ) as consumer:
        consumer.subscribe(["orders"])
        record = next(iter(consumer))
        consumer.commit({record.topic_partition: READ})


def page(address: str) -> list[str]:
    """The lines that Prometheus would read; none until it serves."""
    try:
        with urllib.request.urlopen(f"http://{address}/metrics") as answer:
            text: bytes = answer.read()
    except (URLError, ConnectionError):
        return []
    return text.decode().splitlines()
