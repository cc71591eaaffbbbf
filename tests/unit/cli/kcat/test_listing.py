"""What kcat prints of a cluster; kcat itself is asked in conformance."""

import json

from moldau.cli.kcat.listing import offsets_json
from moldau.client.offset_lookup import FoundOffset
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_text_and_json_tell_the_same(broker: EmbeddedBroker) -> None:
    servers = broker.bootstrap_servers
    assert run("cat", "-b", servers, "-L").stdout.startswith("Metadata for all topics (from broker")
    told = json.loads(run("cat", "-b", servers, "-L", "-J").stdout)
    assert (told["query"], told["controllerid"]) == ({"topic": "*"}, 0)
    assert told["brokers"] == [{"id": 0, "name": servers}]


def test_offsets_are_told_by_topic_and_partition() -> None:
    found = {
        TopicPartition("t", 1): FoundOffset(7, -1),
        TopicPartition("t", 0): FoundOffset(3, -1),
    }
    assert json.loads(offsets_json(found)) == {
        "t": {
            "topic": "t",
            "1": {"partition": 1, "offset": 7},
            "0": {"partition": 0, "offset": 3},
        }
    }
