"""Records of transactions are shown with what became of them."""

from contextlib import aclosing

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.console.messages.query import MessageQuery
from moldau.console.messages.scanning import Budget, Scanner, readers
from moldau.testing.broker import EmbeddedBroker
from unit.console.asking import Asking


async def states(broker: EmbeddedBroker, query: MessageQuery) -> list[tuple[str | None, object]]:
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    async with readers(settings, is_uncommitted=query.is_uncommitted) as found:
        scanner = Scanner(found, "transactions", query, Budget())
        rows = []
        async with aclosing(scanner.run()) as tables:
            async for table in tables:
                rows += table.to_pylist()
    rows.sort(key=lambda row: row["offset"])
    return [(row["value"] and row["value"].decode(), row.get("state")) for row in rows]


async def test_aborted_open_and_markers_are_told_apart(
    broker: EmbeddedBroker, console: Asking
) -> None:
    servers = broker.bootstrap_servers
    async with Admin(bootstrap_servers=servers) as admin:
        (await admin.create_topics([NewTopic("transactions", 1)])).check()
    async with Producer(bootstrap_servers=servers) as plain:
        await plain.send_and_wait("transactions", b"plain")
    async with Producer(bootstrap_servers=servers, transactional_id="told") as producer:
        for value, is_commit in ((b"kept", True), (b"dropped", False)):
            await producer.begin_transaction()
            await producer.send_and_wait("transactions", value)
            await (producer.commit_transaction if is_commit else producer.abort_transaction)()
        await producer.begin_transaction()
        await producer.send_and_wait("transactions", b"waits")
        expected = [
            ("plain", None),
            ("kept", None),
            (None, "commit marker"),
            ("dropped", "aborted"),
            (None, "abort marker"),
            ("waits", "open"),
        ]
        for start in ("newest", "oldest"):
            every = MessageQuery(start, is_uncommitted=True)
            assert await states(broker, every) == expected
        committed = MessageQuery("oldest")
        assert [value for value, _ in await states(broker, committed)] == ["plain", "kept"]
        listed = await console.ask(
            "GET", "/api/clusters/local/topics/transactions/messages?uncommitted=1"
        )
        assert b'"state":"abort marker"' in listed.body
        await producer.abort_transaction()
    some = MessageQuery("oldest", is_uncommitted=True, key="nobody")
    assert await states(broker, some) == []
