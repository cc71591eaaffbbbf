"""List, describe and abort transactions; layouts are in the transcripts."""

import json

from moldau.cli.transactions import table
from moldau.client.blocking import Producer
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run


def test_a_transaction_is_listed_described_and_aborted(
    broker: EmbeddedBroker, bootstrap: str
) -> None:
    servers = broker.bootstrap_servers
    with Producer[str, str](bootstrap_servers=servers, transactional_id="x") as producer:
        producer.begin_transaction()
        producer.send("t", "value").result()
        listed = run("transactions", bootstrap, "list", "--format", "json")
        (row,) = json.loads(listed.stdout)
        assert (row["TransactionalId"], row["TransactionState"]) == ("x", "Ongoing")
        described = run("transactions", bootstrap, "describe", "--transactional-id", "x").stdout
        assert "\tOngoing" in described
        assert described.rstrip().endswith("t-0")
        where = ("--topic", "t", "--partition", "0")
        done = run("transactions", bootstrap, "abort", *where, "--start-offset", "0")
        assert (done.code, done.stdout) == (0, "")
        done = run("transactions", bootstrap, "abort", *where, "--start-offset", "0")
        assert "Could not find any open transactions starting at offset 0" in done.stderr
        producer.abort_transaction()


def test_what_is_missing_is_said(bootstrap: str) -> None:
    assert "one of list, describe" in run("transactions", bootstrap).stderr
    assert "--broker-id" in run("transactions", bootstrap, "find-hanging").stderr
    done = run("transactions", bootstrap, "describe", "--transactional-id", "nope")
    assert done.stderr.startswith("Failed to describe transaction state of transactional-id `nope`")
    done = run("transactions", bootstrap, "abort", "--topic", "t", "--partition", "0")
    assert done.stderr == 'Missing required argument "[producer-id]"\n'


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table(["A", "Longer"], [["wide", 1]]) == ["A   \tLonger\t", "wide\t1     \t"]
