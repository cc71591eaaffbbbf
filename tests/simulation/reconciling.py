"""Members of a group whose coordinator assigns the partitions (KIP-848)."""

import asyncio

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from simulation.client import GROUP, TOPIC, Client, require
from simulation.history import History, Joined, Owned

RECONCILED = "reconciled"
_REBALANCE_TIMEOUT_MS = 3_000
_HEARTBEAT_S = 0.5
_LEAVES = 0.04
_AWAY_S = 2.0
_JOINING, _LEAVING = 0, -1
# It is no member any more, and what it had may be another's.
_FENCED = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNRELEASED_INSTANCE_ID,
)


class ReconciledMember:
    """Joins, gives up what it is asked for, takes what it is given, and leaves now and then."""

    def __init__(self, client: Client, history: History) -> None:
        self._client = client
        self._history = history
        self._member_id = ""
        self._epoch = _JOINING
        self._topic_id = b""
        self._owned: dict[int, Owned] = {}
        self._heard_s = 0.0
        """When the last heartbeat was sent that was answered: until then it was a member."""

    async def run(self, until_s: float) -> None:
        """Be a member, again and again, until a moment."""
        loop, chance = asyncio.get_running_loop(), self._client.chance
        while loop.time() < until_s:
            try:
                await self._beat()
                if chance.random() < _LEAVES:
                    await self._leave()
            except KafkaError as error:
                if error.code in _FENCED:
                    self._give_up(self._heard_s)
                    self._epoch = _JOINING
                await self._client.back_off()
            await asyncio.sleep(_HEARTBEAT_S * (0.5 + chance.random()))
        self._give_up(self._heard_s)
        self._client.close()

    async def _beat(self) -> None:
        sent_s = asyncio.get_running_loop().time()
        answer = await self._ask(self._epoch)
        self._heard_s = sent_s
        self._member_id = answer.member_id or self._member_id
        self._epoch = answer.member_epoch
        if answer.assignment is not None:
            assigned = [
                number
                for topic in answer.assignment.topic_partitions
                for number in topic.partitions
            ]
            for topic in answer.assignment.topic_partitions:
                self._topic_id = bytes(topic.topic_id)
            self._take(assigned)
            joined = Joined(RECONCILED, self._member_id, self._epoch, assigned)
            self._history.joined.append(joined)

    async def _leave(self) -> None:
        self._give_up(asyncio.get_running_loop().time())
        await self._ask(_LEAVING)
        self._member_id, self._epoch = "", _JOINING
        await asyncio.sleep(_AWAY_S * self._client.chance.random())

    async def _ask(self, epoch: int) -> ConsumerGroupHeartbeatResponse:
        owned = [TopicPartitions(topic_id=self._topic_id, partitions=sorted(self._owned))]
        request = ConsumerGroupHeartbeatRequest(
            group_id=RECONCILED,
            member_id=self._member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=[TOPIC],
            topic_partitions=owned if self._owned else [],
        )
        answer = await self._client.ask_coordinator(
            GROUP, RECONCILED, request, ConsumerGroupHeartbeatResponse, 0
        )
        require(answer.error_code)
        return answer

    def _take(self, assigned: list[int]) -> None:
        now_s = asyncio.get_running_loop().time()
        for number in [number for number in self._owned if number not in assigned]:
            self._owned.pop(number).until_s = now_s
        for number in assigned:
            if number not in self._owned:
                self._owned[number] = Owned(self._client.name, number, now_s)
                self._history.owned.append(self._owned[number])

    def _give_up(self, at_s: float) -> None:
        for owned in self._owned.values():
            # What it was given with the answer to that heartbeat was never its own for certain.
            owned.until_s = max(at_s, owned.from_s)
        self._owned.clear()
