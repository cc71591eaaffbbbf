"""A broker that is about to stop has others lead what it leads."""

import logging

from moldau.broker.broker import Broker
from moldau.broker.membership.peers import Peers
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)

_log = logging.getLogger(__name__)


async def hand_over(broker: Broker, peers: Peers) -> bool:
    """Ask the controller, as often as the settings allow; returns whether it has worked."""
    general = broker.config.general
    if not general.controlled_shutdown_enable or not _has_others(broker):
        return False
    # What it leads until now it would follow next, just to be waited for when it is gone.
    broker.fetching.end()
    backoff_s = general.controlled_shutdown_retry_backoff_ms / 1000
    for _ in range(general.controlled_shutdown_max_retries):
        controller = broker.metadata.image.controller_id
        try:
            if await _ask(broker, peers):
                _log.info("Controlled shutdown completed: other brokers lead all partitions")
                return True
        except KafkaError as error:
            _log.warning(
                "Failed to send ControlledShutdown to controller %d: %s", controller, error
            )
        # Another controller can be asked at once; who is the last has nobody to hand over to.
        await broker.waiters.until(
            lambda: (
                broker.metadata.image.controller_id != controller  # noqa: B023
                or not _has_others(broker)
            ),
            keys=[broker.metadata],
            timeout_s=backoff_s,
        )
        if not _has_others(broker):
            return False
    _log.warning(
        "Controlled shutdown failed after %d attempts: partitions may have no leader until "
        "the session of this broker has ended",
        general.controlled_shutdown_max_retries,
    )
    return False


def _has_others(broker: Broker) -> bool:
    return any(other != broker.id for other in broker.metadata.image.brokers)


async def _ask(broker: Broker, peers: Peers) -> bool:
    request = ControlledShutdownRequest(broker_id=broker.id, broker_epoch=broker.registration.epoch)
    answer = await peers.ask(broker.metadata.image.controller_id, request)
    assert isinstance(answer, ControlledShutdownResponse)
    if answer.error_code != ErrorCode.NONE:
        raise KafkaError(ErrorCode(answer.error_code), "controlled shutdown")
    if answer.remaining_partitions:
        count = len(answer.remaining_partitions)
        _log.warning("Controlled shutdown waits: no other replica can lead %d partitions", count)
    return not answer.remaining_partitions
