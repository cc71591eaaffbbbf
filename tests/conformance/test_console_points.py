"""Where other consoles fall short: twenty-one points, in the order of their users' complaints.

Each test says what ours must do instead, at a console that runs as a process.
"""

import asyncio
import io
import json
import re
import struct
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from browser import Page, browser
from conformance.console_process import ConsoleProcess, console_process, until
from moldau.cli import console as console_command
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.client.producer.producer import Producer as AsyncProducer
from moldau.model import TopicPartition
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.testing.cluster import running_cluster
from moldau.testing.control import Delay
from unit.registry.started import StartedRegistry, started_registry

QUICK = {"group.initial.rebalance.delay.ms": "0", "log.cleaner.backoff.ms": "100"}
SOON_S = 10.0
BIG = 9007199254740993
"""One more than JavaScript can count to."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedBroker]:
    with running_broker(QUICK) as running:
        yield running


@pytest.fixture(scope="module")
def registry(kafka: EmbeddedBroker) -> Iterator[StartedRegistry]:
    with started_registry(kafka.bootstrap_servers) as running:
        yield running


@pytest.fixture(scope="module")
def console(kafka: EmbeddedBroker, registry: StartedRegistry) -> Iterator[ConsoleProcess]:
    with console_process(kafka.bootstrap_servers, f"--registry={registry.url}") as running:
        yield running


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as tab:
        yield tab


def created(kafka: EmbeddedBroker, name: str, partitions: int = 1, **configs: str) -> str:
    settings = {each.replace("_", "."): value for each, value in configs.items()}
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name, partitions, configs=settings)]).check()
    return name


def write(
    kafka: EmbeddedBroker, topic: str, *values: bytes | None, key: bytes | None = None
) -> None:
    with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, max_request_size=4 << 20
    ) as producer:
        for each in values:
            producer.send(topic, each, key=key)


def rows_of(console: ConsoleProcess, topic: str, **query: object) -> list[dict[str, Any]]:
    lines = console.get(f"/topics/{topic}/messages", **query).lines
    return [each["row"] for each in lines if "row" in each]


@asynccontextmanager
async def firehose(kafka: EmbeddedBroker, topic: str) -> AsyncIterator[None]:
    """As many records as one producer can write."""

    async def pour() -> None:
        async with AsyncProducer[bytes, bytes](
            bootstrap_servers=kafka.bootstrap_servers, batch_size=1 << 20, linger_ms=5
        ) as producer:
            while True:
                for _ in range(100):
                    await producer.send(topic, b"x" * 10_000)
                await producer.flush()

    pouring = asyncio.create_task(pour())
    try:
        yield
    finally:
        pouring.cancel()


def test_01_live_views_hold_up_nobody(kafka: EmbeddedBroker, console: ConsoleProcess) -> None:
    created(kafka, "tailed", 4)
    with ExitStack() as tabs:
        views = [tabs.enter_context(console.stream("/topics/tailed/live")) for _ in range(10)]
        for view in views:
            view.event("live")
        assert console.get("/topics").seconds < SOON_S
        with console.stream("/topics/tailed/live") as one_too_many:
            assert "10 live views at once" in one_too_many.event("live")["error"]
        write(kafka, "tailed", b"to all")
        for view in views:
            assert (
                view.until("live", lambda said: said["rows"])["rows"][0]["value"]["text"]
                == "to all"
            )


def test_02_a_burst_is_accounted_for_to_the_last_record(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "burst")
    with console.stream("/topics/burst/live") as view:
        view.event("live")
        write(kafka, "burst", *[b"%d" % each for each in range(3000)])
        told = 0
        while told < 3000:
            said = view.event("live")
            told += len(said["rows"]) + said["jumped"] + said["dropped"]
        assert told == 3000
        assert said["rows"][-1]["value"]["text"] == "2999", "what is shown last is the newest"


async def test_03_a_topic_that_is_written_to_at_full_speed_is_sampled(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "hose")
    skipped = 0

    def watch() -> float:
        nonlocal skipped
        with console.stream("/topics/hose/live") as view:
            view.event("live")
            warm_mb, deadline_s = 0.0, time.monotonic() + 4.0
            while time.monotonic() < deadline_s:
                said = view.event("live")
                skipped += said["jumped"] + said["dropped"]
                warm_mb = warm_mb or (console.memory_mb if skipped else 0.0)
        return console.memory_mb - warm_mb

    async with firehose(kafka, "hose"):
        growth_mb = await asyncio.to_thread(watch)
    assert skipped > 0, "and it is said how many were"
    assert growth_mb < 60


def test_04_a_search_through_many_records_shows_how_far_it_is_and_ends(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "many", 2)
    asyncio.run(_fill(kafka, "many", 200_000))
    found = console.get("/topics/many/messages", start="oldest", filter="nowhere")
    (end,) = [each["end"] for each in found.lines if "end" in each]
    assert (end["stopped"], end["scanned"]) == ("end", 200_000)
    assert any("progress" in each for each in found.lines)
    assert found.seconds < SOON_S
    first = console.get("/topics/many/messages", start="oldest", filter="user-7", limit=10).lines
    cursor = first[-1]["end"]["cursor"]
    again = console.get(
        "/topics/many/messages", start="oldest", filter="user-7", limit=10, cursor=cursor
    ).lines
    places = [
        (each["row"]["partition"], each["row"]["offset"]) for each in first + again if "row" in each
    ]
    assert len(set(places)) == 20, "it goes on where it stopped"


async def _fill(kafka: EmbeddedBroker, topic: str, count: int) -> None:
    values = [
        f'{{"id": {each}, "user": "user-{each % 1000}", "{"x" * 150}": 1}}' for each in range(count)
    ]
    async with AsyncProducer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for start in range(0, count, 20_000):
            table = pa.table({"value": values[start : start + 20_000]})
            await (await producer.send_table(topic, table, partition=start // 20_000 % 2))


def test_05_offsets_without_records_cost_nothing(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    configs = {
        "cleanup_policy": "compact",
        "segment_bytes": "100000",
        "min_cleanable_dirty_ratio": "0.01",
    }
    created(kafka, "compacted", 1, **configs, max_compaction_lag_ms="100")
    write(kafka, "compacted", *[b"%d" % each for each in range(50_000)], key=b"one")

    def first() -> dict[str, Any] | None:
        found = console.get("/topics/compacted/messages", start="oldest", limit=1)
        (row,) = [each["row"] for each in found.lines if "row" in each]
        assert found.seconds < SOON_S
        return row if int(row["offset"]) > 30_000 else None

    assert until(first, "compaction")["key"]["text"] == "one"


def test_06_of_a_large_value_the_beginning_is_sent(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "large", max_message_bytes=str(4 << 20))
    value = json.dumps({"text": "x" * 3_000_000}).encode()
    write(kafka, "large", value)
    listed = console.get("/topics/large/messages")
    assert len(listed.body) < 5000
    (row,) = rows_of(console, "large")
    assert (row["value"]["size"], row["value"]["is_cut"]) == (len(value), True)
    assert len(console.get("/topics/large/messages/0/0").body) < 1_200_000
    assert console.get("/topics/large/messages/0/0", download="value").body == value


def test_07_a_list_of_groups_asks_for_their_names_alone(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "grouped")
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        for number in range(20):
            admin.alter_group_offsets(f"g{number}", {TopicPartition("grouped", 0): 0}).check()
    asked: list[str] = []
    ends = [
        kafka.control(api, lambda call: asked.append(call.api))
        for api in ("DescribeGroups", "OffsetFetch", "ListOffsets", "ListGroups", "FindCoordinator")
    ]
    found = console.get("/groups")
    assert len(found.said["groups"]) >= 20
    assert set(asked) == {"ListGroups"}
    with console.stream("/events", groups=1) as stream:
        stream.until("numbers", lambda said: "g19" in said.get("groups", {}))
    assert asked.count("OffsetFetch") <= 2, "many groups by one request"
    for end in ends:
        end()


def test_08_a_list_of_topics_asks_for_metadata_alone(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "listed")
    asked: list[str] = []
    ends = [
        kafka.control(api, lambda call: asked.append(call.api))
        for api in ("Metadata", "ListOffsets", "DescribeConfigs", "DescribeLogDirs")
    ]
    found = console.get("/topics")
    assert "listed" in [each["name"] for each in found.said["topics"]]
    assert asked == ["Metadata"]
    for end in ends:
        end()


def test_09_a_broker_that_is_dead_or_silent_is_marked_and_the_rest_is_shown() -> None:
    settings = {"default.replication.factor": "2", "offsets.topic.replication.factor": "3"}
    with running_cluster(brokers=3, settings={**QUICK, **settings}) as cluster:
        cluster.create_topic("spread", partitions=6)
        with console_process(cluster.bootstrap_servers) as console:
            assert console.get("").said["troubles"] == []
            cluster[2].kill()
            overview = until(lambda: _troubled(console), "partitions are under-replicated")
            assert overview["troubles"][0]["kind"] == "under-replicated"
            for path in ("/topics", "/topics/spread", "/groups", "/brokers", "/why/partitions"):
                told = console.get(path)
                assert (told.status, told.seconds < SOON_S) == (200, True), path
            causes = console.get("/why/partitions").said
            assert "2" in json.dumps(causes)
            for api in ("ListGroups", "ListOffsets", "ListTransactions"):
                cluster[1].control(api, lambda _: Delay(60.0))
            with ThreadPoolExecutor() as threads:
                paths = ("/groups", "/transactions", "/topics/spread")
                groups, transactions, topic = threads.map(console.get, paths)
            assert [each["broker"] for each in groups.said["missing"]] == [1]
            assert [each["broker"] for each in transactions.said["missing"]] == [1]
            ends = {each["leader"]: each["end"] for each in topic.said["partitions"]}
            assert ends == {0: 0, 1: None}, "what its leader does not say is unknown"


def _troubled(console: ConsoleProcess) -> Any:
    told = console.get("")
    assert told.seconds < SOON_S
    return told.said if told.status == 200 and told.said["troubles"] else None


def test_10_a_topic_that_is_forbidden_is_a_row_and_no_error_of_the_page() -> None:
    rules = {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }

    def rule(topic: str, principal: str, operation: Operation) -> Acl:
        kind = ResourceType.TOPIC
        return Acl(
            resource_type=kind, resource_name=topic, principal=principal, operation=operation
        )

    with (
        running_broker({**QUICK, **rules}) as kafka,
        console_process(kafka.bootstrap_servers) as console,
    ):
        for topic in ("open", "seen", "hidden"):
            write(kafka, created(kafka, topic), b"one")
        with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
            wanted = [rule("seen", "User:ANONYMOUS", Operation.DESCRIBE)]
            wanted.append(rule("hidden", "User:other", Operation.READ))
            admin.create_acls(wanted).check()
        names = [each["name"] for each in console.get("/topics").said["topics"]]
        assert names == ["open", "seen"]
        assert [row["value"]["text"] for row in rows_of(console, "open")] == ["one"]
        for topic in ("seen", "hidden"):
            (said,) = console.get(f"/topics/{topic}/messages").lines
            assert "AUTHORIZATION" in said["error"], topic
            assert console.get(f"/topics/{topic}/configs").status == 403
        assert [console.get(each).status for each in ("", "/brokers", "/groups")] == [200] * 3
        with console.stream("/events", topics=1) as stream:
            said = stream.until("numbers", lambda said: said.get("topics"))
        assert said["topics"]["open"][0] == 1


def test_11_lag_is_never_negative_and_ends_at_open_transactions(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "lagging", 2)
    servers = kafka.bootstrap_servers
    write(kafka, "lagging", b"a", b"b", key=b"k")
    with Admin(bootstrap_servers=servers) as admin:
        (ends,) = [
            each["partitions"]
            for each in [console.get("/topics/lagging").said]
            if each["partitions"]
        ]
        (written,) = [each["partition"] for each in ends if each["end"] == 2]
        offsets = {
            TopicPartition("lagging", written): 0,
            TopicPartition("lagging", 1 - written): 100,
        }
        admin.alter_group_offsets("behind", offsets).check()
    with Producer[bytes, bytes](bootstrap_servers=servers, transactional_id="open") as producer:
        producer.begin_transaction()
        producer.send("lagging", b"c", partition=written)
        producer.flush()
        found = console.get("/groups/behind").said
        assert sorted(each["lag"] for each in found["offsets"]) == [0, 2]
        assert (found["lag"], found["is_partial"]) == (2, False)
        producer.abort_transaction()


def test_12_users_are_added_by_a_command_and_see_what_they_are(
    kafka: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = tmp_path / "users"
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    assert console_command.main(["users", "add", "anna", "--role=reader", f"--users={users}"]) == 0
    assert "correct horse" not in users.read_text()
    with console_process(kafka.bootstrap_servers, f"--users={users}") as console:
        assert console.get("/topics").status == 401
        login = "anna:correct horse"
        assert console.ask("GET", "/topics", login=login).status == 200
        refused = console.ask("POST", "/topics", body={"name": "a"}, login=login)
    assert (refused.status, refused.said["message"]) == (403, "anna is reader: this takes admin")


def test_13_a_filter_is_no_program_and_no_address_comes_from_a_request(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "filtered")
    write(kafka, "filtered", b"a" * 50_000 + b"!")
    for text in ("__import__('os').system('id')", "${7*7} = 1", "(" * 5000):
        assert console.get("/topics/filtered/messages", filter=text).status == 400, text
    assert rows_of(console, "filtered", filter="value.x = `id`") == [], "a text like any other"
    slow = console.get("/topics/filtered/messages", filter='value matches "^(a+)+$"')
    assert slow.seconds < SOON_S, "time grows with the text, not with its power"
    document = json.dumps(console.document()["paths"])
    for word in ('"url"', '"address"', '"script"', '"servers"'):
        assert word not in document, "nobody names a place to connect to"


def test_14_read_only_holds_on_every_path_of_the_api(kafka: EmbeddedBroker) -> None:
    with console_process(kafka.bootstrap_servers, "--read-only") as console:
        refused = 0
        for path, operations in console.document()["paths"].items():
            for method in operations:
                if method == "get" or path.endswith("/plan"):
                    continue
                own = re.sub(r"\{\w+\}", "x", path.removeprefix("/api/clusters/{cluster}"))
                told = console.ask(method.upper(), own, body={})
                assert told.status == 403, f"{method} {path}"
                refused += 1
    assert refused > 20


def test_15_a_restart_of_the_cluster_needs_none_of_the_console() -> None:
    with running_broker(QUICK) as kafka, console_process(kafka.bootstrap_servers) as console:
        created(kafka, "before")
        with console.stream("/topics/before/live") as view:
            view.event("live")
            kafka.stop()
            assert console.get("/topics").status == 503
            assert view.until("numbers", lambda said: said["error"])
            kafka.start()
            until(lambda: console.get("/topics").status == 200, "topics are shown again")
            write(kafka, "before", b"after")
            said = view.until("live", lambda said: said["rows"])
            assert said["rows"][0]["value"]["text"] == "after", "it goes on by itself"


@pytest.mark.needs("browser")
def test_16_times_have_a_zone(kafka: EmbeddedBroker, console: ConsoleProcess, page: Page) -> None:
    created(kafka, "timed")
    write(kafka, "timed", b"one")
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.alter_group_offsets("timed", {TopicPartition("timed", 0): 0}).check()
    for value, status in (("2026-01-01T00:00:00", 400), ("2026-01-01T00:00:00Z", 200)):
        sent = {"to": "time", "value": value}
        assert console.ask("POST", "/groups/timed/plan", body=sent).status == status
    page.open(f"{console.url}/c/local/topics/timed")
    page.wait(
        r"/\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d/.test(document.querySelector('.when').innerText)"
    )
    page.click("UTC")
    page.wait(r"/\d\d:\d\d:\d\d\.\d{3}Z/.test(document.querySelector('.when').innerText)")
    page.click("UTC")


@pytest.mark.needs("browser")
def test_17_large_numbers_stay_what_they_are(
    kafka: EmbeddedBroker, console: ConsoleProcess, page: Page
) -> None:
    created(kafka, "numbers")
    write(kafka, "numbers", b'{"big": %d, "exact": 1.10, "huge": 1e400}' % BIG)
    (row,) = rows_of(console, "numbers", filter=f"value.big = {BIG}")
    assert f'"big": {BIG}' in row["value"]["text"]
    assert rows_of(console, "numbers", filter=f"value.big = {BIG - 1}") == []
    page.open(f"{console.url}/c/local/topics/numbers")
    page.wait("document.querySelector('tbody button')", "the record")
    page.run("document.querySelector('tbody button').click()")
    for text in (f'"big": {BIG}', '"exact": 1.10', '"huge": 1e400'):
        page.wait(f"document.querySelector('dialog pre').innerText.includes({json.dumps(text)})")


def test_18_a_value_of_a_schema_has_its_number_and_why_it_is_not_decoded(
    kafka: EmbeddedBroker, console: ConsoleProcess, registry: StartedRegistry
) -> None:
    created(kafka, "typed")
    sent = {"schema": '{"type": "record", "name": "A", "fields": [{"name": "n", "type": "long"}]}'}
    schema = registry.ask("POST", "/subjects/typed-value/versions", sent).body["id"]
    header = struct.pack(">bi", 0, schema)
    write(
        kafka, "typed", header + b"\x06", header + b"\xff", struct.pack(">bi", 0, 77_777) + b"\x06"
    )
    shown = [console.get(f"/topics/typed/messages/0/{offset}").said["value"] for offset in range(3)]
    assert [each["registered"]["schema"] for each in shown] == [schema, schema, 77_777]
    assert json.loads(shown[0]["registered"]["text"]) == {"n": 3}
    assert "not Avro" in shown[1]["registered"]["error"]
    assert "not found" in shown[2]["registered"]["error"]
    assert all(each["hex"].startswith("00000000  00") for each in shown), "bytes stand beside it"


def test_19_null_empty_and_tombstone_are_three_things(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "nothing")
    write(kafka, "nothing", None, b"", key=b"k")
    write(kafka, "nothing", b"x", key=None)
    write(kafka, "nothing", b"x", key=b"")
    found = rows_of(console, "nothing", start="oldest")
    assert [(each["key"]["kind"], each["value"]["kind"]) for each in found] == [
        ("text", "tombstone"),
        ("text", "empty"),
        ("null", "text"),
        ("empty", "text"),
    ]


def test_20_aborted_records_and_markers_are_there_on_a_switch(
    kafka: EmbeddedBroker, console: ConsoleProcess
) -> None:
    created(kafka, "bank")
    with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, transactional_id="bank"
    ) as producer:
        for is_kept in (True, False):
            producer.begin_transaction()
            producer.send("bank", b"paid" if is_kept else b"refused")
            producer.flush()
            (producer.commit_transaction if is_kept else producer.abort_transaction)()
    assert [each["value"]["text"] for each in rows_of(console, "bank")] == ["paid"]
    found = rows_of(console, "bank", start="oldest", uncommitted=1)
    states = [each.get("state") for each in sorted(found, key=lambda row: int(row["offset"]))]
    assert states == [None, "commit marker", "aborted", "abort marker"]


@pytest.mark.needs("browser")
def test_21_the_address_is_the_view(
    kafka: EmbeddedBroker, console: ConsoleProcess, page: Page
) -> None:
    created(kafka, "linked", 2)
    write(kafka, "linked", *[b'{"n": %d}' % each for each in range(100)], key=b"k")
    page.open(f"{console.url}/c/local/topics/linked")
    page.fill("input[name=filter]", "value.n >= 90 and value.n < 95")
    page.fill("select[name=start]", "oldest")
    page.fill("input[name=key]", "k")
    page.fill("input[name=limit]", "3")
    page.click("Look")
    page.see('"n": 92')
    page.wait("document.querySelectorAll('tbody tr').length === 3", "three records")
    link = page.run("location.href")
    page.open("about:blank")
    page.open(link)
    page.see('"n": 92')
    page.wait("document.querySelectorAll('tbody tr').length === 3", "the same three")
    fields = {"filter": "value.n >= 90 and value.n < 95", "key": "k", "limit": "3"}
    for name, text in fields.items():
        assert page.run(f"document.querySelector('[name={name}]').value") == text
    assert page.run("document.querySelector('[name=start]').value") == "oldest"
    page.open("about:blank")
