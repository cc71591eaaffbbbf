"""Transactions that no coordinator knows are found, and only those."""

from moldau.client.admin.admin import Admin
from moldau.client.admin.hanging import find_hanging, open_transaction
from moldau.client.admin.transactions import ProducerState
from moldau.model import TopicPartition
from moldau.testing.broker import running_broker
from unit.client.admin.open_transactions import UNVERIFIED, begin

T0 = TopicPartition("t", 0)
NOW_MS = 3_600_000  # the record by hand is of millisecond 1


async def test_what_the_coordinator_knows_does_not_hang(admin: Admin) -> None:
    await begin(admin)
    found, errors = await find_hanging(admin, [T0], now_ms=NOW_MS, older_ms=1000)
    assert (found, errors) == ([], {})


async def test_what_no_coordinator_knows_hangs_once_it_is_old() -> None:
    with running_broker(UNVERIFIED) as kafka:
        async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
            opened = await begin(admin, is_known=False)
            found, _ = await find_hanging(admin, [T0], now_ms=NOW_MS, older_ms=1000)
            (hanging,) = found
            assert (hanging.partition, hanging.producer.producer_id) == (T0, opened.producer_id)
            assert hanging.age_ms == NOW_MS - 1
            young, _ = await find_hanging(admin, [T0], now_ms=NOW_MS, older_ms=NOW_MS)
            assert young == []
            await admin.abort_transaction(hanging.as_open)
            found, _ = await find_hanging(admin, [T0], now_ms=NOW_MS, older_ms=1000)
            assert found == []


async def test_partitions_that_do_not_answer_are_named(admin: Admin) -> None:
    missing = TopicPartition("none", 0)
    _, errors = await find_hanging(admin, [missing], now_ms=NOW_MS, older_ms=1000)
    assert list(errors) == [missing]


def test_a_producer_without_a_marker_is_aborted_with_the_first_epoch() -> None:
    producer = ProducerState(7, 2, 0, 1, None, 5)
    assert open_transaction(T0, producer).coordinator_epoch == 0
