"""Our broker with hooks for faults that nothing outside the process can bring about.

    python -m faults.hooked serve ...

SIGUSR1 keeps the interpreter busy for three seconds. While there is a file of the name that
MOLDAU_MARKERS has, transactions are decided but not completed; its content says which markers
are written: none, some or all of them.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.handlers import write_txn_markers
from moldau.cli.main import main
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.write_txn_markers import (
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

MARKERS = "MOLDAU_MARKERS"
_BUSY_S = 3.0
_write = write_txn_markers.handle


def keep_busy(_signal: int, _frame: FrameType | None) -> None:
    """Hold the interpreter: no other thread comes to its turn."""
    # Threads would get their turn in between, so that sessions lived on.
    sys.setswitchinterval(2 * _BUSY_S)
    deadline = time.monotonic() + _BUSY_S
    while time.monotonic() < deadline:
        pass
    sys.setswitchinterval(0.005)


def written_markers() -> str | None:
    """What the file says; None without one."""
    file = Path(os.environ[MARKERS])
    return file.read_text() if file.exists() else None


async def lose(
    request: WriteTxnMarkersRequest, context: Context, broker: Broker
) -> WriteTxnMarkersResponse:
    """Write what the file says, and do not tell the coordinator."""
    written = written_markers()
    if written is None:
        return await _write(request, context, broker)
    if written == "some":
        for marker in request.markers:
            for topic in marker.topics:
                topic.partition_indexes = [one for one in topic.partition_indexes if one % 2]
    if written != "none":
        await _write(request, context, broker)
    raise KafkaError(ErrorCode.NETWORK_EXCEPTION)


if __name__ == "__main__":
    write_txn_markers.handle = lose
    signal.signal(signal.SIGUSR1, keep_busy)
    sys.exit(main())
