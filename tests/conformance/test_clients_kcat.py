"""kcat against our broker."""

import json
import subprocess

import pytest

from conformance.our_broker import OurBroker
from conformance.sent import CODECS

pytestmark = pytest.mark.needs("kcat")

DEADLINE_S = 30


def kcat(broker: OurBroker, *arguments: str, stdin: str = "") -> str:
    run = subprocess.run(
        ["kcat", "-b", broker.bootstrap, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE_S,
    )
    return run.stdout


@pytest.mark.parametrize("codec", CODECS)
def test_lines_are_passed_on(broker: OurBroker, codec: str) -> None:
    topic = f"codec-{codec}"
    lines = "".join(f"key-{number}|line {number}\n" for number in range(100))
    kcat(broker, "-P", "-t", topic, "-K", "|", "-z", codec, "-H", "from=kcat", stdin=lines)
    read = kcat(broker, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-e", "-q", "-K", "|")
    assert read == lines
    headers = kcat(broker, "-C", "-t", topic, "-o", "0", "-c", "1", "-q", "-f", "%h")
    assert headers == "from=kcat"


def test_the_cluster_is_listed(broker: OurBroker) -> None:
    kcat(broker, "-P", "-t", "listed", stdin="line\n")
    listing = json.loads(kcat(broker, "-L", "-J"))
    assert [node["name"] for node in listing["brokers"]] == [broker.bootstrap]
    assert "listed" in [topic["topic"] for topic in listing["topics"]]


def test_offsets_are_found_by_time(broker: OurBroker) -> None:
    kcat(broker, "-P", "-t", "times", stdin="one\ntwo\n")
    assert "offset 0" in kcat(broker, "-Q", "-t", "times:0:1")


def test_a_group_reads_everything(broker: OurBroker) -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    kcat(broker, "-P", "-t", "grouped", stdin=lines)
    earliest = ("-X", "auto.offset.reset=earliest", "-c", "20", "-q")
    assert kcat(broker, "-G", "readers", *earliest, "grouped") == lines
