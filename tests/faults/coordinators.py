"""F25 to F27: coordinators of groups and transactions, and producers that come back."""

import os
import signal
import subprocess
import sys
import time

from confluent_kafka import Producer

from conformance.our_cluster import DEADLINE_S, until
from faults.fault import fault
from faults.load import PARTITIONS
from faults.stage import Stage
from faults.zombie import FENCED, TIMEOUT_S, TRANSACTIONAL_ID, VALUE
from moldau.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from moldau.records.batch import Producer as ProducerFields
from simulation.client import GROUP, TOPIC, TRANSACTION, Client, require
from simulation.grouping import MEMBERS, Member
from simulation.history import Outcome, Transaction, Write
from simulation.transacting import TransactionalProducer
from simulation.writing import batch_of, produce


def coordinator(stage: Stage, kind: int, key: str) -> int:
    """Who coordinates a group or a transactional id."""

    async def ask(client: Client) -> int:
        request = FindCoordinatorRequest(key=key, key_type=kind)
        found = await client.ask_any(request, FindCoordinatorResponse, 3)
        require(found.error_code)
        return int(found.node_id)

    return stage.load.run(ask(stage.load.client("asking")))


@fault()
def f25(stage: Stage) -> None:
    """A group's coordinator is killed during a rebalance and while offsets are committed."""
    history = stage.load.history
    for index in range(stage.rounds):
        number = coordinator(stage, GROUP, MEMBERS)
        generation = max((joined.generation for joined in history.joined), default=0)
        joining = Member(stage.load.client(f"joining-{index}"), PARTITIONS, history)
        stage.load.begin(joining.run)
        stage.kill(number)
        _until_shared_after(stage, generation)
        _until_offsets_are_committed(stage)
        stage.start(number)
        stage.until_whole()
        _until_offsets_are_committed(stage)


def _until_shared_after(stage: Stage, generation: int) -> None:
    joined = stage.load.history.joined
    until(
        lambda: any(one.generation > generation for one in list(joined)),
        "the members share the partitions anew",
    )


def _until_offsets_are_committed(stage: Stage) -> None:
    commits = stage.load.history.commits
    count = len(commits)
    until(
        lambda: any(commit.outcome is Outcome.DONE for commit in commits[count:]),
        "an offset is committed",
    )


@fault(program="faults.hooked")
def f26(stage: Stage) -> None:
    """A transaction's coordinator is killed after it has decided: before, between and after the
    markers."""
    edges = [("none", True), ("some", True), ("all", True), ("some", False)]
    for index in range(stage.rounds):
        for written, is_commit in edges:
            name = f"edge-{index}-{written}-{'commit' if is_commit else 'abort'}"
            number = coordinator(stage, TRANSACTION, name)
            stage.markers.write_text(written)
            stage.load.run(_transact(stage, name, is_commit=is_commit))
            stage.kill(number)
            stage.markers.unlink()
            stage.start(number)
            stage.until_whole()
    stage.notes.append(f"{len(edges) * stage.rounds} coordinators killed")


async def _transact(stage: Stage, name: str, *, is_commit: bool) -> None:
    """A transaction in every partition, up to where it is decided."""
    history, client = stage.load.history, stage.load.client(name)
    producer = TransactionalProducer(client, PARTITIONS, history)
    identity = await producer.begin()
    transaction = Transaction(f"{name}@1", is_commit=is_commit)
    history.transactions[transaction.name] = transaction
    everywhere = list(range(PARTITIONS))
    await producer.insist(lambda: producer.add_partitions(identity, everywhere))
    for partition in range(PARTITIONS):
        write = Write(name, partition, [f"{name}@1/{partition}#0"], transaction.name)
        history.writes.append(write)
        fields = ProducerFields(identity.producer_id, identity.epoch, 0)
        batch = batch_of(client, write.values, fields, is_transactional=True)
        write.base_offset = await producer.insist(
            lambda: produce(client, partition, batch, name),  # noqa: B023
            is_idempotent=True,
        )
        write.outcome = Outcome.DONE
    await producer.insist(lambda: producer.end(identity, is_commit=is_commit))
    transaction.outcome = Outcome.DONE
    client.close()


@fault()
def f27(stage: Stage) -> None:
    """A producer's process stands still for longer than its transaction may last, while another
    takes its place; then it goes on."""
    for _ in range(stage.rounds):
        command = [sys.executable, "-m", "faults.zombie", stage.cluster.bootstrap]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as zombie:
            assert zombie.stdin is not None
            assert zombie.stdout is not None
            assert zombie.stdout.readline() == b"written\n"
            os.kill(zombie.pid, signal.SIGSTOP)
            time.sleep(TIMEOUT_S + 1)
            _take_its_place(stage)
            os.kill(zombie.pid, signal.SIGCONT)
            told, _ = zombie.communicate(b"commit\n", DEADLINE_S)
        assert told.decode().strip() in FENCED, f"it was told {told!r}"
    stage.load.history.transactions[TRANSACTIONAL_ID] = Transaction(TRANSACTIONAL_ID, False)
    for number in range(2):
        write = Write(TRANSACTIONAL_ID, 0, [f"{VALUE}#{number}"], TRANSACTIONAL_ID)
        stage.load.history.writes.append(write)


def _take_its_place(stage: Stage) -> None:
    successor = Producer(
        {"bootstrap.servers": stage.cluster.bootstrap, "transactional.id": TRANSACTIONAL_ID}
    )
    successor.init_transactions(DEADLINE_S)
    successor.begin_transaction()
    # A name of its own, each time: records are told apart by their values.
    value = f"successor-{time.monotonic_ns()}#0"
    successor.produce(TOPIC, value.encode(), partition=0)
    successor.commit_transaction(DEADLINE_S)
