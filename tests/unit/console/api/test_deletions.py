"""Records are deleted as a plan has said."""

import pytest

from moldau.client.producer.producer import Producer
from moldau.testing.broker import EmbeddedBroker
from unit.console.asking import Asking


async def test_records_are_deleted_before_an_offset(
    console: Asking, broker: EmbeddedBroker
) -> None:
    await console.send("POST", "/topics", {"name": "cut", "partitions": 1})
    async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for each in range(3):
            await producer.send_and_wait("cut", str(each).encode())
    done = await console.send("POST", "/topics/cut/delete-records", {"before": {"0": 2}})
    assert done == {"starts": {"0": 2}}
    (partition,) = (await console.get("/topics/cut"))["partitions"]
    assert (partition["start"], partition["end"]) == (2, 3)
    for wrong in ({}, {"0": "x"}):
        path = "/topics/cut/delete-records"
        assert (await console.refused("POST", path, {"before": wrong}))[0] == 400


@pytest.mark.parametrize(
    ("to", "value", "before"),
    [
        ("latest", None, 3),
        ("offset", "2", 2),
        ("time", "2001-09-09T01:46:41Z", 1),
        ("offset", "9", 3),
    ],
)
async def test_a_plan_says_what_a_deletion_would_take(
    console: Asking, broker: EmbeddedBroker, to: str, value: str | None, before: int
) -> None:
    await console.ask("POST", "/api/clusters/local/topics", {"name": "planned", "partitions": 1})
    if not (await console.get("/topics/planned"))["partitions"][0]["end"]:
        async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for each in range(3):
                at_ms = 1_000_000_000_000 + each * 1000
                await producer.send_and_wait("planned", b"x", timestamp_ms=at_ms)
    plan = await console.send(
        "POST", "/topics/planned/delete-records/plan", {"to": to, "value": value}
    )
    assert plan == {"changes": [{"partition": 0, "start": 0, "before": before}]}
