"""A broker's place in the cluster, over several sessions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from moldau.broker.membership.registration import Registration
from moldau.broker.membership.sessions import ClusterMembership
from moldau.broker.settings.configs import Configs
from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.config.topic import TopicConfig
from moldau.controller.service import ControllerService, Rules
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout.brokers import BrokerRegistration, RegisteredEndpoint
from moldau.coordination.memory import MemoryTree
from moldau.coordination.sessions import Sessions
from moldau.coordination.tree import Tree
from unit.controller.brokers import Cluster, StandingClock
from unit.waiting import settled, until

NODE = BrokerRegistration(endpoints=(RegisteredEndpoint("P", "PLAINTEXT", "h", 1),), timestamp_ms=5)


@dataclass(slots=True)
class Member:
    """A broker reduced to its membership."""

    cluster: Cluster
    opened: list[MemoryTree] = field(default_factory=list)
    offices: list[ControllerService] = field(default_factory=list)
    door: asyncio.Event = field(default_factory=asyncio.Event)
    """Sessions begin while it is open, as it is at first."""
    registration: Registration = field(default_factory=lambda: Registration(3, patience_s=5))

    async def open(self) -> Tree:
        await self.door.wait()
        self.opened.append(self.cluster.ensemble.connect())
        return self.opened[-1]

    def start_office(self, tree: Tree) -> ControllerService:
        rules = Rules(is_unclean_allowed=lambda _topic, _settings: False)
        send = self.cluster.brokers.send
        self.offices.append(
            ControllerService(tree, 3, send=send, clock=StandingClock(), rules=rules)
        )
        return self.offices[-1]


@asynccontextmanager
async def member(*, is_lost: bool = False) -> AsyncIterator[Member]:
    """A member, whose first session may be lost before it has joined."""
    made = Member(await Cluster.create())
    made.door.set()
    sessions = Sessions(made.open, patience_s=5)
    await sessions.open()
    if is_lost:
        made.cluster.ensemble.expire(made.opened[0].session_id)
    topics = TopicConfigs(sessions, TopicConfig())
    configs = Configs(sessions, 3, {}, topics=topics)
    membership = ClusterMembership(
        sessions, made.registration, NODE, made.start_office, companions=[configs.run]
    )
    await membership.join()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(membership.run())
        yield made
        running.cancel()


async def owner_of(made: Member, path: str) -> int:
    stat = await made.cluster.admin.exists(path)
    return 0 if stat is None else stat.ephemeral_owner


async def test_a_member_is_registered_and_stands_for_election() -> None:
    async with member() as made:
        await until(lambda: made.offices[0].is_controller)
        session_id = made.opened[0].session_id
        for path in (broker_nodes.id_path(3), controller_nodes.PATH):
            assert await owner_of(made, path) == session_id


async def test_a_first_session_that_is_lost_before_it_registers_is_followed_by_another() -> None:
    async with member(is_lost=True) as made:
        await until(lambda: made.offices[0].is_controller)
        assert await owner_of(made, broker_nodes.id_path(3)) == made.opened[1].session_id


async def test_after_a_lost_session_it_resigns_registers_anew_and_is_elected_again() -> None:
    async with member() as made:
        await until(lambda: made.offices[0].is_controller)
        epoch = made.registration.epoch
        made.cluster.ensemble.expire(made.opened[0].session_id)
        await until(lambda: len(made.offices) == 2 and made.offices[1].is_controller)
        assert not made.offices[0].is_controller
        assert made.registration.epoch > epoch
        assert await owner_of(made, broker_nodes.id_path(3)) == made.opened[1].session_id
        assert made.offices[1].machine.epoch == 2


async def test_between_two_sessions_it_is_not_registered() -> None:
    async with member() as made:
        assert made.registration.is_current
        made.door.clear()
        made.cluster.ensemble.expire(made.opened[0].session_id)
        await until(lambda: not made.registration.is_current)
        assert await owner_of(made, broker_nodes.id_path(3)) == 0
        made.door.set()
        await until(lambda: made.registration.is_current)
        assert await owner_of(made, broker_nodes.id_path(3)) == made.opened[1].session_id


async def test_a_session_that_breaks_while_registering_is_tried_again() -> None:
    async with member() as made:
        await until(lambda: made.offices[0].is_controller)
        made.cluster.ensemble.expire(made.opened[0].session_id)
        await until(lambda: len(made.opened) == 2)
        made.opened[1].suspend()
        await settled()
        made.opened[1].resume()
        await until(lambda: len(made.offices) == 2 and made.offices[1].is_controller)


async def test_a_session_that_is_lost_while_registering_is_followed_by_another() -> None:
    async with member() as made:
        await until(lambda: made.offices[0].is_controller)
        made.cluster.ensemble.expire(made.opened[0].session_id)
        await until(lambda: len(made.opened) == 2)
        made.cluster.ensemble.expire(made.opened[1].session_id)
        await until(lambda: len(made.opened) == 3 and made.offices[-1].is_controller)
        assert await owner_of(made, broker_nodes.id_path(3)) == made.opened[2].session_id
