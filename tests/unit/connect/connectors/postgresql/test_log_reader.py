"""Batches of the stream; what a connector makes of them is in test_source.py."""

import logging

import pytest

from moldau.connect.connectors.capture import log_reader as reading
from moldau.connect.connectors.postgresql import log_reader as module
from moldau.connect.connectors.postgresql.log_reader import WalReader
from moldau.connect.connectors.postgresql.position import LogPosition
from moldau.connect.connectors.postgresql.slot import SlotState
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")


def test_batches_end_with_a_commit_though_more_is_there(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database.run(
        "CREATE TABLE t (i integer PRIMARY KEY)",
        "CREATE PUBLICATION dbz_publication FOR ALL TABLES",
        f"SELECT pg_create_logical_replication_slot('slot_{database.name}', 'pgoutput')",
    )
    for start in (1, 11, 21):
        database.run(f"INSERT INTO t SELECT generate_series({start}, {start + 3})")
    capture = database.capture(max_batch_size="6")
    reader = WalReader(capture, LogPosition(), None)
    sizes: list[int] = []
    while sum(sizes) < 12:
        batch = reader.batch(100)
        if batch is not None:
            sizes.append(len(list(batch.records)))
            reader.stored(batch.offset)
    assert sizes in ([8, 4], [4, 8], [4, 4, 4])  # as they arrive, never within a transaction
    assert reader.batch(100) is None
    # A slot that keeps much is told, once a while.
    behind = SlotState(None, "unreserved", 5, None, 2**31)
    monkeypatch.setattr(reading, "_WATCH_S", 0.0)
    monkeypatch.setattr(module, "slot_state", lambda *_: behind)
    with caplog.at_level(logging.WARNING):
        reader.batch(100)
    assert "keeps 2147483648 bytes of the log" in caplog.text
    reader.close()
    capture.close()
