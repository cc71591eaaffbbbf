"""Transactions of clients: what is seen, who is fenced, what a crash leaves."""

import time
from pathlib import Path

import aiokafka
import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from kafka import KafkaProducer

from conformance.apache.lines import JavaError, JavaProgram, Json
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from conformance.our_broker import OurBroker, our_broker
from conformance.test_clients_java import clients, consume, topic_of  # noqa: F401 - a fixture
from conformance.transacting import DEADLINE_S, producer_of, read, reader, until_state, write


def test_committed_records_are_seen_and_aborted_ones_are_not(broker: OurBroker) -> None:
    producer = producer_of(broker, "seen")
    write(producer, "seen", b"a", b"b", is_commit=True)
    write(producer, "seen", b"no", b"no", is_commit=False)
    write(producer, "seen", b"c", is_commit=True)
    assert read(broker, "seen") == [b"a", b"b", b"c"]
    everything = read(broker, "seen", isolation="read_uncommitted")
    assert everything == [b"a", b"b", b"no", b"no", b"c"]


def test_open_transactions_hold_readers_back_until_they_end(broker: OurBroker) -> None:
    first, second = producer_of(broker, "held-1"), producer_of(broker, "held-2")
    write(first, "held", b"before", is_commit=True)
    first.begin_transaction()
    first.produce("held", b"open", partition=0)
    first.flush(DEADLINE_S)
    write(second, "held", b"after", is_commit=True)
    assert read(broker, "held") == [b"before"]
    first.commit_transaction(DEADLINE_S)
    assert read(broker, "held") == [b"before", b"open", b"after"]


def test_a_transaction_that_takes_too_long_is_aborted(broker: OurBroker) -> None:
    producer = producer_of(broker, "overdue", transaction_timeout_ms=1000)
    producer.begin_transaction()
    producer.produce("overdue", b"late", partition=0)
    producer.flush(DEADLINE_S)
    write(producer_of(broker, "prompt"), "overdue", b"prompt", is_commit=True)
    deadline = time.monotonic() + DEADLINE_S
    while (seen := read(broker, "overdue")) != [b"prompt"]:
        assert not seen
        assert time.monotonic() < deadline, "the transaction is still open"
    with pytest.raises(KafkaException):
        producer.commit_transaction(DEADLINE_S)


def test_a_zombie_is_fenced_and_nothing_of_it_is_committed(broker: OurBroker) -> None:
    zombie = producer_of(broker, "zombie")
    zombie.begin_transaction()
    zombie.produce("fenced", b"zombie", partition=0)
    zombie.flush(DEADLINE_S)
    successor = producer_of(broker, "zombie")
    with pytest.raises(KafkaException) as raised:
        zombie.commit_transaction(DEADLINE_S)
    assert raised.value.args[0].fatal()
    write(successor, "fenced", b"successor", is_commit=True)
    assert read(broker, "fenced") == [b"successor"]


@pytest.mark.parametrize("is_commit", [True, False])
def test_offsets_count_with_their_transaction(broker: OurBroker, is_commit: bool) -> None:
    topic = f"offsets-{is_commit}"
    producer = producer_of(broker, topic)
    write(producer, topic, b"a", b"b", is_commit=True)
    with reader(broker) as consumer:
        position = TopicPartition(topic, 0, 2)
        producer.begin_transaction()
        group = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction([position], group, DEADLINE_S)
        if is_commit:
            producer.commit_transaction(DEADLINE_S)
        else:
            producer.abort_transaction(DEADLINE_S)
        (found,) = consumer.committed([TopicPartition(topic, 0)], DEADLINE_S)
        assert (found.offset == 2) is is_commit


# Other clients in Python


async def test_aiokafka_commits_aborts_and_is_fenced(broker: OurBroker) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap, transactional_id="aiokafka")
    await producer.start()
    async with producer.transaction():
        await producer.send_and_wait("aiokafka", b"a", partition=0)
        offsets = {aiokafka.TopicPartition("aiokafka", 0): 1}
        await producer.send_offsets_to_transaction(offsets, "aiokafka")
    await producer.begin_transaction()
    await producer.send_and_wait("aiokafka", b"no", partition=0)
    await producer.abort_transaction()
    await producer.begin_transaction()
    await producer.send_and_wait("aiokafka", b"zombie", partition=0)
    successor = producer_of(broker, "aiokafka")
    with pytest.raises(aiokafka.errors.ProducerFenced):
        await producer.commit_transaction()
    await producer.stop()
    write(successor, "aiokafka", b"b", is_commit=True)
    assert read(broker, "aiokafka") == [b"a", b"b"]


def test_kafka_python_commits_and_aborts(broker: OurBroker) -> None:
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap, transactional_id="kafka-python", acks="all"
    )
    producer.init_transactions()
    for value, is_commit in ((b"a", True), (b"no", False), (b"b", True)):
        producer.begin_transaction()
        producer.send("kafka-python", value, partition=0).get(DEADLINE_S)
        if is_commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.close()
    assert read(broker, "kafka-python") == [b"a", b"b"]


# Crashes


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize("markers", ["none", "some", "all"])
def test_what_was_decided_is_completed_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, markers: str, is_commit: bool
) -> None:
    monkeypatch.setenv("MARKERS", markers)
    with our_broker(tmp_path, {"num.partitions": "4"}, "conformance.losing_markers") as broker:
        producer = producer_of(broker, "crash")
        with reader(broker) as consumer:
            producer.begin_transaction()
            for number in range(4):
                producer.produce("crash", b"%d" % number, partition=number)
            producer.flush(DEADLINE_S)
            offset, group = TopicPartition("crash", 0, 1), consumer.consumer_group_metadata()
            producer.send_offsets_to_transaction([offset], group, DEADLINE_S)
            ending = producer.commit_transaction if is_commit else producer.abort_transaction
            ending(DEADLINE_S)
            broker.kill()
            broker.program = "moldau"
            broker.start()
            wait_until_complete(broker, "crash", 4)
            (found,) = consumer.committed([TopicPartition("crash", 0)], DEADLINE_S)
            assert (found.offset == 1) is is_commit
        for number in range(4):
            expected = [b"%d" % number] if is_commit else []
            assert read(broker, "crash", number=number) == expected
        write(producer, "crash", b"next", is_commit=True)
        assert read(broker, "crash")[-1] == b"next"


def wait_until_complete(broker: OurBroker, topic: str, partition_count: int) -> None:
    """Until readers of committed records get as far as all others."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    deadline = time.monotonic() + DEADLINE_S

    def ends(isolation: IsolationLevel) -> list[int]:
        asked = {
            TopicPartition(topic, number): OffsetSpec.latest() for number in range(partition_count)
        }
        found = admin.list_offsets(asked, isolation_level=isolation)
        return [each.result(DEADLINE_S).offset for each in found.values()]

    while ends(IsolationLevel.READ_COMMITTED) != ends(IsolationLevel.READ_UNCOMMITTED):
        assert time.monotonic() < deadline, "a transaction hangs"


def test_an_open_transaction_goes_on_after_a_crash(tmp_path: Path) -> None:
    with our_broker(tmp_path) as broker:
        producer = producer_of(broker, "open")
        producer.begin_transaction()
        producer.produce("open", b"before", partition=0)
        producer.flush(DEADLINE_S)
        broker.kill()
        broker.start()
        producer.produce("open", b"after", partition=0)
        producer.commit_transaction(DEADLINE_S)
        assert read(broker, "open") == [b"before", b"after"]


@pytest.mark.parametrize("label", ["Empty", "CompleteCommit", "CompleteAbort"])
def test_a_producer_goes_on_when_a_crash_comes_between_its_transactions(
    tmp_path: Path, label: str
) -> None:
    with our_broker(tmp_path) as broker:
        producer = producer_of(broker, "between")
        if label != "Empty":
            write(producer, "between", b"before", is_commit=label == "CompleteCommit")
        before = until_state(broker, "between", label)
        broker.kill()
        broker.start()
        assert until_state(broker, "between", label) == before
        write(producer, "between", b"after", is_commit=True)
        until_state(broker, "between", "CompleteCommit")
        expected = [b"before"] if label == "CompleteCommit" else []
        assert read(broker, "between") == [*expected, b"after"]
        producer_of(broker, "between")
        successor = until_state(broker, "between", "Empty")
        assert successor.producer_id == before.producer_id
        assert successor.producer_epoch > before.producer_epoch


# Java


def call(program: JavaProgram, name: str, broker: OurBroker, producer: str, **more: object) -> None:
    program.call(
        name,
        bootstrap=broker.bootstrap,
        producer=producer,
        settings={"transactional.id": producer.partition("@")[0], "linger.ms": "5"},
        **more,
    )


def java_write(
    program: JavaProgram, broker: OurBroker, topic: str, producer: str, *values: bytes
) -> None:
    records: list[Json] = [[1_700_000_000_000, None, value, []] for value in values]
    call(program, "produce", broker, producer, topic=topic, partition=0, records=records)


def test_java_commits_and_aborts(clients: JavaProgram, broker: OurBroker) -> None:  # noqa: F811
    topic = producer = topic_of(clients, "java-transactions")
    for value, ending in ((b"a", "commit"), (b"no", "abort"), (b"b", "commit")):
        call(clients, "begin", broker, producer)
        java_write(clients, broker, topic, producer, value)
        call(clients, ending, broker, producer)
    assert read(broker, topic) == [b"a", b"b"]
    assert [row.value for row in consume(clients, broker, topic)] == [b"a", b"no", b"b"]


def test_java_zombies_are_fenced(clients: JavaProgram, broker: OurBroker) -> None:  # noqa: F811
    topic = topic_of(clients, "java-zombie")
    zombie, successor = f"{topic}@1", f"{topic}@2"
    call(clients, "begin", broker, zombie)
    java_write(clients, broker, topic, zombie, b"zombie")
    call(clients, "begin", broker, successor)
    java_write(clients, broker, topic, successor, b"successor")
    with pytest.raises(JavaError, match=r"ProducerFenced|InvalidProducerEpoch"):
        call(clients, "commit", broker, zombie)
    call(clients, "commit", broker, successor)
    assert read(broker, topic) == [b"successor"]


@needs_apache("kafka-3.9")
def test_apaches_tool_lists_and_describes_transactions(
    tools: ApacheTools, broker: OurBroker
) -> None:
    producer = producer_of(broker, "described")
    producer.begin_transaction()
    producer.produce("described", b"a", partition=0)
    producer.flush(DEADLINE_S)
    script = "kafka-transactions.sh"
    listed = tools.run(script, "--bootstrap-server", broker.bootstrap, "list")
    assert any(
        line.split()[0] == "described" and line.split()[-1] == "Ongoing"
        for line in listed.stdout.splitlines()[1:]
        if line.strip()
    ), listed.stdout + listed.stderr
    described = tools.run(
        script,
        *("--bootstrap-server", broker.bootstrap, "describe", "--transactional-id", "described"),
    )
    assert "described-0" in described.stdout, described.stdout + described.stderr
    producer.abort_transaction(DEADLINE_S)
