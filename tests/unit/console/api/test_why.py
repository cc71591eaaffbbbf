"""Facts for a diagnosis come from the cluster, and what cannot be had is left out."""

from moldau.client.admin.admin import Admin
from moldau.client.producer.producer import Producer
from moldau.console.services.rest import RestService
from moldau.testing.broker import EmbeddedBroker
from unit.client.admin.open_transactions import begin
from unit.console.asking import Asking, asking
from unit.console.services.answering import answering


async def test_a_cluster_that_is_well_has_no_causes(console: Asking) -> None:
    found = await console.get("/why/partitions")
    assert found["causes"] == []
    assert "on 1 brokers that are up" in found["known"][0]


async def test_a_group_that_nobody_reads_for(console: Asking, broker: EmbeddedBroker) -> None:
    await console.send("POST", "/topics", {"name": "unread", "partitions": 1})
    async with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        await producer.send_and_wait("unread", b"one")
    offsets = {"offsets": [{"topic": "unread", "partition": 0, "offset": 0}]}
    await console.send("POST", "/groups/g%2F%3Cb%3E/offsets", offsets)
    found = await console.get("/why/groups/g%2F%3Cb%3E")
    assert [each["text"] for each in found["causes"]] == ["It has no members: nothing reads for it"]
    assert found["known"][1] == "1 records behind in 1 of 1 partitions"
    assert (await console.refused("GET", "/why/groups/none"))[0] == 404


async def test_an_open_transaction_holds_readers_back(
    console: Asking, broker: EmbeddedBroker
) -> None:
    async with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        await begin(admin, "held", "holding")
    offsets = {"offsets": [{"topic": "held", "partition": 0, "offset": 0}]}
    await console.send("POST", "/groups/waiting/offsets", offsets)
    found = await console.get("/why/groups/waiting")
    assert found["causes"][0]["text"].endswith("waits at held-0 at 0")


async def test_a_rejected_record(console: Asking) -> None:
    missing = await console.get("/why/produce?topic=missing")
    assert missing["causes"][0]["remedy"]["body"] == {"name": "missing"}
    configs = {"cleanup.policy": "compact"}
    await console.send("POST", "/topics", {"name": "keyed", "partitions": 1, "configs": configs})
    found = await console.get("/why/produce?topic=keyed&error=INVALID_RECORD&principal=User:a")
    (cause,) = found["causes"]
    assert (cause["is_certain"], "without a key" in cause["text"]) == (True, True)
    nothing = await console.get("/why/produce")
    assert (nothing["causes"], "INVALID_RECORD" in nothing["errors"]) == ([], True)
    assert (await console.refused("GET", "/why/produce?topic=keyed&error=<b>"))[0] == 400


async def test_a_connector_that_failed() -> None:
    task = {"id": 0, "state": "FAILED", "trace": "Connection refused", "worker_id": "w"}
    answers: dict[str, tuple[int, object]] = {
        "GET /connectors/x/status": (200, {"connector": {"state": "RUNNING"}, "tasks": [task]}),
        "GET /connectors/x/config": (200, {}),
    }
    async with answering(answers) as service:
        beside = {"connect": {"w": RestService(service.url)}}
        async with asking({"local": {}}, beside=beside) as console:
            found = await console.get("/why/connect/w/x")
    assert found["known"][1] == "Task 0 is FAILED on w: Connection refused"
    assert "cannot be reached" in found["causes"][0]["text"]
