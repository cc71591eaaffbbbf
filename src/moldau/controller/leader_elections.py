"""The leader elections of a controller's term: what is looked up, then planned, then written."""

from collections.abc import Collection, Mapping
from functools import partial

from moldau.controller.controller import CarryOut, Controller, Settings, StateWrite
from moldau.controller.topic_loading import TopicLoading
from moldau.model import TopicPartition


class LeaderElections:
    """Gives partitions their leaders, for one term."""

    def __init__(self, machine: Controller, topics: TopicLoading, carry_out: CarryOut) -> None:
        """`carry_out` writes what a plan says, and sends the requests that follow from it."""
        self._machine = machine
        self._topics = topics
        self._carry_out = carry_out

    async def lose(self, brokers: Collection[int]) -> None:
        """Find other leaders for what brokers have that are gone, and take them from in-sync sets.

        Leaders report a replica that has come into sync only seconds later. It would stay in sync
        without being there, and its leader would acknowledge nothing until it has lagged too long.
        """
        await self.reload_in_sync(brokers)
        await self.offline()

    async def reload_in_sync(self, brokers: Collection[int]) -> None:
        """Read the in-sync sets that brokers may be in without our knowing."""
        await self._topics.reload(self._machine.cluster.out_of_sync_on(brokers))

    async def offline(self) -> None:
        """Look for leaders where there are none, and take lost replicas from in-sync sets.

        Whether a replica out of sync may lead is read from the topics' nodes each time, as
        Kafka does: no broker is notified of the settings that a topic is created with.
        """
        while True:
            settings = await self._topics.settings(self._machine.topics_in_question())
            await self._carry_out(partial(self._plan_offline, settings))
            # A leader may have left itself alone in sync meanwhile, before it went.
            if settings.keys() >= self._machine.topics_in_question():
                return

    def _plan_offline(self, settings: Mapping[str, Settings | None]) -> list[StateWrite]:
        return [*self._machine.plan_offline(settings), *self._machine.plan_shrink()]

    async def preferred(self, partitions: Collection[TopicPartition]) -> list[TopicPartition]:
        """Have partitions led by their first replicas; returns those which cannot be."""
        cluster = self._machine.cluster
        known = [one for one in partitions if one in cluster.leaders]
        # Leaders report replicas that came into sync only now and then.
        await self._topics.reload(known)
        await self._carry_out(lambda: self._machine.plan_preferred(known))
        return [
            one
            for one in known
            if cluster.leaders[one].leader != cluster.assignment(one).replicas[0]
        ]

    async def unclean(self, partitions: Collection[TopicPartition]) -> list[TopicPartition]:
        """Have partitions without a leader led by any live replica, in sync or not.

        Returns those which still have none.
        """
        cluster = self._machine.cluster

        def leaderless() -> list[TopicPartition]:
            known = [one for one in partitions if one in cluster.leaders]
            return [one for one in known if not cluster.is_online(cluster.leaders[one].leader, one)]

        await self._carry_out(
            lambda: self._machine.plan_elections(leaderless(), is_unclean_allowed=lambda _: True)
        )
        return leaderless()
