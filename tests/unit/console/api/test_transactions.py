"""Transactions are shown, searched for those that hang, and ended when that is confirmed."""

from collections.abc import AsyncIterator, Iterator

import pytest

from moldau.client.admin.admin import Admin
from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.client.admin.open_transactions import UNVERIFIED, begin
from unit.console.asking import Asking, asking

HOSTILE = "<img src=x>/..%2f\u202e"


@pytest.fixture(scope="module")
def trusting() -> Iterator[EmbeddedBroker]:
    with running_broker(UNVERIFIED) as running:
        yield running


@pytest.fixture
async def opened(trusting: EmbeddedBroker) -> AsyncIterator[Asking]:
    async with asking({"local": {"bootstrap.servers": trusting.bootstrap_servers}}) as found:
        yield found


async def begun(
    broker: EmbeddedBroker, topic: str, name: str, *, is_known: bool = True
) -> tuple[int, int]:
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        found = await begin(admin, topic, name, is_known=is_known)
    return found.producer_id, found.producer_epoch


async def test_one_under_way_is_shown_and_fenced(opened: Asking, trusting: EmbeddedBroker) -> None:
    producer_id, epoch = await begun(trusting, "orders", HOSTILE)
    listed = (await opened.get("/transactions"))["transactions"]
    assert [(each["id"], each["state"]) for each in listed] == [(HOSTILE, "Ongoing")]
    path = "/transactions/%3Cimg%20src%3Dx%3E%2F..%252f%E2%80%AE"
    found = await opened.get(path)
    assert (found["id"], found["producer_id"]) == (HOSTILE, producer_id)
    assert found["partitions"] == [{"topic": "orders", "partition": 0}]
    assert found["age_ms"] >= 0
    assert (await opened.refused("POST", f"{path}/fence", {"confirm": "other"}))[0] == 400
    fenced = await opened.send("POST", f"{path}/fence", {"confirm": HOSTILE})
    assert (fenced["producer_id"], fenced["producer_epoch"]) > (producer_id, epoch)
    assert (await opened.get(path))["state"] in ("CompleteAbort", "Empty")


async def test_an_id_that_is_not_there_is_not_made_by_fencing_it(opened: Asking) -> None:
    before = await opened.get("/transactions")
    status, message = await opened.refused("POST", "/transactions/none/fence", {"confirm": "none"})
    assert (status, message.partition(":")[0]) == (404, "TRANSACTIONAL_ID_NOT_FOUND")
    assert await opened.get("/transactions") == before


async def test_one_that_hangs_is_found_and_aborted(
    opened: Asking, trusting: EmbeddedBroker
) -> None:
    producer_id, _ = await begun(trusting, "stuck", "gone", is_known=False)
    found = await opened.get("/hanging-transactions?minutes=0")
    (row,) = found["hanging"]
    assert (row["topic"], row["producer_id"], row["start_offset"]) == ("stuck", producer_id, 0)
    assert found["unanswered"] == 0
    (seen,) = (await opened.get("/topics/stuck/producers"))["producers"]
    assert (seen["producer_id"], seen["start_offset"]) == (producer_id, 0)
    body = {
        **{key: row[key] for key in ("topic", "partition", "producer_id", "producer_epoch")},
        "coordinator_epoch": 0,
        "confirm": "stuck-0",
    }
    path = "/hanging-transactions/abort"
    assert (await opened.refused("POST", path, {**body, "confirm": ""}))[0] == 400
    other = {**body, "producer_id": producer_id + 1}
    assert "has no open transaction" in (await opened.refused("POST", path, other))[1]
    await opened.send("POST", path, body)
    assert (await opened.get("/hanging-transactions?minutes=0&topic=stuck"))["hanging"] == []
    assert "has no open transaction" in (await opened.refused("POST", path, body))[1]


async def test_a_topic_that_is_not_there_has_no_producers(opened: Asking) -> None:
    assert (await opened.refused("GET", "/topics/none/producers"))[0] == 404
