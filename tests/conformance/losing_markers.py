"""Our broker with a fault: transactions are decided, but never completed.

    MARKERS=none|some|all python -m conformance.losing_markers serve ...

The markers are not written at all, or in every second partition, or in all of them while the
coordinator does not hear of it. Each leaves what a crash at that moment would leave.
"""

import os
import sys

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.broker.handlers import write_txn_markers
from moldau.cli.main import main
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.write_txn_markers import (
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_write = write_txn_markers.handle


async def lose(
    request: WriteTxnMarkersRequest, context: Context, broker: Broker
) -> WriteTxnMarkersResponse:
    written = os.environ["MARKERS"]
    if written != "none":
        if written == "some":
            for marker in request.markers:
                for topic in marker.topics:
                    topic.partition_indexes = [
                        number for number in topic.partition_indexes if number % 2
                    ]
        await _write(request, context, broker)
    raise KafkaError(ErrorCode.NETWORK_EXCEPTION)


if __name__ == "__main__":
    write_txn_markers.handle = lose
    sys.exit(main())
