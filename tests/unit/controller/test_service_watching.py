"""Brokers and controllers whose processes die: nobody waits for their sessions to end."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count

import pytest

from moldau.controller.cluster import NO_LEADER
from moldau.controller.presence import Sign
from moldau.controller.service import ControllerService, Rules
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.tree import Create, Delete, Operation, SetData
from unit.controller.brokers import RULES, Cluster
from unit.controller.watched import LoopClock, Processes
from unit.waiting import LoopTime, settled

UNCLEAN = replace(RULES, is_unclean_allowed=lambda _topic, _settings: True)


@dataclass(slots=True)
class Scene:
    cluster: Cluster
    processes: Processes
    time: LoopTime
    services: dict[int, ControllerService]

    async def pass_ms(self, milliseconds: int) -> None:
        for _ in range(milliseconds // 50):
            self.time.jump(0.05)
            await settled()

    async def leader(self, topic: str = "t") -> tuple[int, int, tuple[int, ...]]:
        state = await self.cluster.state(topic)
        return state.leader, state.leader_epoch, state.isr

    async def controller(self) -> int:
        node = await self.cluster.admin.get(controller_nodes.PATH)
        return controller_nodes.decode_controller(node.data).broker_id


@asynccontextmanager
async def scene(
    monkeypatch: pytest.MonkeyPatch, *serving: int, rules: Rules = RULES
) -> AsyncIterator[Scene]:
    """Three brokers, of which some serve as controllers; the first of them is one."""
    cluster, processes, time = await Cluster.create(1, 2, 3), Processes(), LoopTime(monkeypatch)
    services: dict[int, ControllerService] = {}
    async with AsyncExitStack() as stack:
        for broker_id in serving:
            services[broker_id] = ControllerService(
                cluster.sessions[broker_id],
                broker_id,
                send=cluster.brokers.send,
                clock=LoopClock(time),
                rules=replace(rules, open_contact=processes.open),
            )
            await stack.enter_async_context(cluster.running(services[broker_id]))
        yield Scene(cluster, processes, time, services)


async def test_a_leader_whose_process_dies_is_replaced_before_its_session_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch, 1) as on:
        await on.cluster.create_topic("t", (2, 3))
        await on.pass_ms(200)
        on.processes.kill(2)
        await on.pass_ms(500)
        assert await on.leader() == (3, 1, (3,))
        assert on.cluster.brokers.leader_of(3, "t") == (3, 1)
        # When the session ends as well, there is nothing more to do.
        on.cluster.leave(2)
        await on.pass_ms(100)
        assert await on.leader() == (3, 1, (3,))


@pytest.mark.parametrize("sign", [Sign.SILENT, Sign.ANSWERED])
async def test_a_broker_that_is_silent_leads_until_its_session_ends(
    sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(monkeypatch, 1) as on:
        await on.cluster.create_topic("t", (2, 3))
        await on.pass_ms(200)
        on.processes.kill(2, sign)
        await on.pass_ms(5_000)
        assert await on.leader() == (2, 0, (2, 3))


async def test_a_broker_that_was_only_slow_to_accept_has_everything_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch, 1) as on:
        await on.cluster.create_topic("t", (2, 3))
        await on.cluster.create_topic("alone", (2,))
        await on.pass_ms(200)
        on.processes.kill(2)
        await on.pass_ms(500)
        assert await on.leader("alone") == (NO_LEADER, 1, (2,))
        on.processes.start(2)
        await on.pass_ms(1_000)
        assert await on.leader("alone") == (2, 2, (2,))
        assert on.cluster.brokers.leader_of(2, "alone") == (2, 2)
        assert on.cluster.brokers.leader_of(2, "t") == (3, 1)
        assert on.services[1].machine.cluster.unproven == set()


async def test_what_it_alone_has_is_not_given_up_before_its_session_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch, 1, rules=UNCLEAN) as on:
        await on.cluster.create_topic("t", (2, 3))
        await on.pass_ms(200)
        await on.cluster.write_isr("t", 2)
        on.processes.kill(2)
        await on.pass_ms(1_000)
        assert await on.leader() == (NO_LEADER, 1, (2,))
        on.cluster.leave(2)
        await on.pass_ms(100)
        assert await on.leader() == (3, 2, (3,))


async def test_a_broker_that_is_started_at_once_is_another_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch, 1) as on:
        await on.cluster.create_topic("t", (2, 3))
        await on.pass_ms(200)
        on.processes.kill(2)
        await on.pass_ms(500)
        on.processes.start(2)
        on.cluster.leave(2)
        await on.cluster.join(2)
        await settled()
        assert 2 in on.services[1].machine.cluster.brokers
        assert await on.leader() == (3, 1, (3,))


async def test_a_controller_whose_process_dies_is_replaced_with_all_that_it_led(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch, 1, 2, 3) as on:
        await on.cluster.create_topic("t", (1, 3))
        await on.pass_ms(200)
        on.processes.kill(1)
        await on.pass_ms(500)
        assert await on.controller() in (2, 3)
        first = on.services[1]
        successor = on.services[await on.controller()]
        assert (successor.is_controller, successor.machine.epoch) == (True, 2)
        # Its process runs here all the same: it is no controller any more, and nothing else.
        assert not first.is_controller
        assert await on.leader() == (3, 1, (3,))
        on.processes.start(1)
        await on.pass_ms(1_000)
        assert on.cluster.brokers.leader_of(1, "t") == (3, 1)
        assert successor.is_controller


async def test_a_controller_that_is_silent_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene(monkeypatch, 1, 2) as on:
        await on.pass_ms(200)
        on.processes.kill(1, Sign.SILENT)
        await on.pass_ms(5_000)
        assert await on.controller() == 1


@pytest.mark.parametrize("requests_before", range(8))
async def test_a_controller_that_has_come_meanwhile_is_left_in_office(
    requests_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever finds the old one gone may be late; the new one's node has the same version."""
    other = controller_nodes.ControllerRegistration(9, 0).encode()
    usurpation: list[Operation] = [
        Delete(controller_nodes.PATH),
        Create(controller_nodes.PATH, other, is_ephemeral=True),
        SetData(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(2)),
    ]
    async with scene(monkeypatch, 1, 2) as on:
        await on.pass_ms(200)
        on.processes.kill(1)
        ensemble, admin_id = on.cluster.ensemble, on.cluster.admin.session_id
        requests = count()
        has_come = False
        ask = on.cluster.sessions[2]._ask

        async def ask_after_the_other(work: Callable[[], object]) -> object:
            nonlocal has_come
            # The last request of all is that by which it would take over.
            if next(requests) == requests_before:
                node = ensemble.nodes.get(controller_nodes.PATH)
                has_come = controller_nodes.decode_controller(node.data).broker_id == 1
                if has_come:
                    ensemble.apply(usurpation, admin_id)
            return await ask(work)

        monkeypatch.setattr(on.cluster.sessions[2], "_ask", ask_after_the_other)
        await on.pass_ms(600)
        assert await on.controller() == (9 if has_come else 2)
        assert has_come or requests_before > 5


async def test_the_office_of_an_earlier_life_is_taken_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(monkeypatch) as on:
        old = on.cluster.sessions[1]
        node = controller_nodes.ControllerRegistration(1, 0).encode()
        await old.create(Create(controller_nodes.PATH, node, is_ephemeral=True))
        await on.cluster.join_instead(1)
        service = ControllerService(
            on.cluster.sessions[1],
            1,
            send=on.cluster.brokers.send,
            clock=LoopClock(on.time),
            rules=replace(RULES, open_contact=on.processes.open),
        )
        async with on.cluster.running(service):
            assert service.is_controller
            assert service.machine.epoch == 1


@pytest.mark.parametrize("data", [b"?", controller_nodes.ControllerRegistration(7, 0).encode()])
async def test_a_controller_that_nobody_can_find_is_left_alone(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(monkeypatch) as on:
        await on.cluster.admin.create(Create(controller_nodes.PATH, data, is_ephemeral=True))
        service = ControllerService(
            on.cluster.sessions[1],
            1,
            send=on.cluster.brokers.send,
            clock=LoopClock(on.time),
            rules=replace(RULES, open_contact=on.processes.open),
        )
        async with on.cluster.running(service):
            await on.pass_ms(1_000)
            assert not service.is_controller
            on.cluster.ensemble.expire(on.cluster.admin.session_id)
            await settled()
            assert service.is_controller
