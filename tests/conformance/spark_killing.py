"""What tasks do to be killed half way, after rows have reached the log, or to be overtaken."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from moldau.client.blocking.consumer import Consumer
from moldau.model import TopicPartition

ROWS_PER_HANDOVER = {"spark.sql.execution.arrow.maxRecordsPerBatch": "20"}
"""Spark hands rows on by so many, and through buffers of 64 KiB, which rows have to fill."""
ROW_BYTES = 2000
_BATCHES_MIN = 8
DEADLINE_S = 300


def kill_once(
    batches: Iterator[pa.RecordBatch],
    target: tuple[str, str],
    note: Path,
    kill: Callable[[], None],
) -> Iterator[pa.RecordBatch]:
    """The rows, and a kill in the middle of them, once; the note has what was written before it.

    The target is a topic and its bootstrap servers.
    """
    rows = list(batches)
    yield from rows[: len(rows) // 2]
    if len(rows) >= _BATCHES_MIN and not note.exists():
        deadline = time.monotonic() + DEADLINE_S
        while end_of(*target) == 0:
            assert time.monotonic() < deadline, "nothing is written"
            time.sleep(0.05)
        note.write_text(str(end_of(*target)))
        kill()
    yield from rows[len(rows) // 2 :]


def wait_for_copy(batches: Iterator[pa.RecordBatch], note: Path) -> Iterator[pa.RecordBatch]:
    """The rows; those of the first task come when a copy of it was started, which has a note."""
    task = TaskContext.get()
    assert task is not None
    if task.attemptNumber() > 0:
        note.write_text(str(task.attemptNumber()))
    deadline = time.monotonic() + DEADLINE_S
    while task.partitionId() == 0 and not note.exists():
        assert time.monotonic() < deadline, "no copy is started"
        time.sleep(0.05)
    yield from batches


def end_of(topic: str, servers: str) -> int:
    """How much was written, committed or not."""
    with Consumer[bytes, bytes]({"bootstrap.servers": servers}) as consumer:
        partitions: list[TopicPartition] = consumer.partitions_of(topic)
        return sum(consumer.end_offsets(partitions).values())


def kill_workers() -> None:
    """Kill every Python process that works for this executor, whoever calls this the last."""
    daemon = os.getppid()
    workers = Path(f"/proc/{daemon}/task/{daemon}/children").read_text().split()
    for worker in sorted(map(int, workers), key=os.getpid().__eq__):
        os.kill(worker, signal.SIGKILL)


def kill_executor() -> None:
    """Kill the JVM that this process works for."""
    status = Path(f"/proc/{os.getppid()}/stat").read_text()
    executor = int(status.rpartition(")")[2].split()[1])
    assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_bytes()
    os.kill(executor, signal.SIGKILL)
