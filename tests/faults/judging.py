"""The end of a fault: everything is mended, comes to rest, and is looked at."""

import time
from pathlib import Path
from zlib import crc32

from conformance.our_cluster import DEADLINE_S
from faults.stage import Stage
from moldau.records.batch import iterate_headers
from simulation.history import Batch
from simulation.invariants import replicas_agree

_LOOK_S = 0.2


def come_to_rest(stage: Stage) -> None:
    """Mend what is broken, end the load, and note what clients and disks have in the end."""
    stage.links.mend()
    stage.cluster.start()
    stage.until_whole()
    stage.load.finish()
    stage.load.read_the_end()
    _note_replicas(stage)
    stage.load.history.is_complete = True


def _note_replicas(stage: Stage) -> None:
    """Read every log of every broker, when followers have had the time to read the last batch."""
    history = stage.load.history
    deadline = time.monotonic() + DEADLINE_S
    while True:
        history.replicas = {}
        for number, broker in stage.cluster.brokers.items():
            for directory in broker.replica_directories():
                if directory.is_dir() and not directory.name.endswith("-delete"):
                    logs = history.replicas.setdefault(directory.name, {})
                    logs[number] = batches(directory)
        for logs in history.replicas.values():
            _forget_deleted(logs)
        if not list(replicas_agree(history)) or time.monotonic() > deadline:
            return
        time.sleep(_LOOK_S)


def _forget_deleted(logs: dict[int, list[Batch]]) -> None:
    """Leave out what is deleted on some brokers: each deletes its segments in its own time."""
    start = max((log[0].base_offset for log in logs.values() if log), default=0)
    for log in logs.values():
        log[:] = [batch for batch in log if batch.base_offset >= start]


def batches(directory: Path) -> list[Batch]:
    """The batches of a log, from its files."""
    found = []
    for path in sorted(directory.glob("*.log")):
        data = path.read_bytes()
        for position, header in iterate_headers(data):
            found.append(
                Batch(
                    header.base_offset,
                    header.next_offset,
                    header.leader_epoch,
                    crc32(data[position : position + header.size]),
                    header.producer_id,
                    header.producer_epoch,
                    header.base_sequence,
                )
            )
    return found


def log_end(directory: Path) -> int:
    """The offset after the last record of a log."""
    found = batches(directory)
    return found[-1].next_offset if found else 0
