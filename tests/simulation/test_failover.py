"""How soon others take over: from a process that dies, and never from one that only seems so."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from moldau.broker.broker import Broker
from moldau.controller.presence import Presence, Sign
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.tree import NoNode
from moldau.testing.disk import lose_all
from simulation import planted
from simulation.client import TOPIC
from simulation.cluster import SESSION_TIMEOUT_S, SimulatedBroker
from simulation.script import Stage, played
from simulation.shapes import Shape

# Nobody is to lead because it did once: who leads is what is looked at.
STEADY = {"auto.leader.rebalance.enable": "false"}
THREE = Shape(broker_count=3, partition_count=1, settings=STEADY)
OFF = replace(THREE, settings={**STEADY, "moldau.failover.on.connection.loss": "false"})


def controller(stage: Stage) -> int:
    """Which broker is the controller; -1 for none."""
    try:
        data = stage.world.ensemble.nodes.get(controller_nodes.PATH).data
    except NoNode:
        return -1
    return controller_nodes.decode_controller(data).broker_id


async def until_other_leads(stage: Stage, before: SimulatedBroker) -> float:
    """How long it takes until another broker leads."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    await stage.until(lambda: stage.state().leader not in (before.id, -1))
    return loop.time() - began_s


async def with_leader(stage: Stage, *, is_controller: bool) -> SimulatedBroker:
    """The leader, once it is the controller, or is not: sessions of controllers end until then."""
    while (stage.state().leader == controller(stage)) is not is_controller:
        tree = stage.world.ensemble.session_of(stage.brokers[controller(stage)].machine.name)
        assert tree is not None
        office = tree.session_id
        await asyncio.sleep(3)
        stage.world.ensemble.expire(office)
        await stage.until(lambda: controller(stage) != -1)
        await stage.until(lambda: len(stage.state().isr) == 3)
    return stage.brokers[stage.state().leader]


@pytest.mark.parametrize("is_controller", [True, False])
def test_a_process_that_dies_is_replaced_within_a_second(is_controller: bool) -> None:
    assert played(partial(kill_the_leader, is_controller=is_controller), THREE) < 1.0


@pytest.mark.parametrize("is_controller", [True, False])
def test_with_the_setting_off_its_session_is_waited_for(is_controller: bool) -> None:
    waited_s = played(partial(kill_the_leader, is_controller=is_controller), OFF)
    assert waited_s > SESSION_TIMEOUT_S / 2


async def kill_the_leader(stage: Stage, *, is_controller: bool) -> float:
    """How long it takes until another broker leads."""
    dying = await with_leader(stage, is_controller=is_controller)
    dying.is_wanted = False
    dying.machine.kill()
    return await until_other_leads(stage, dying)


def named_leader(broker: Broker) -> int | None:
    """Who leads, by the metadata that a broker has."""
    partition = broker.metadata.image.partition(TOPIC, 0)
    return None if partition is None else partition.leader


def leaders_in_doubt(stage: Stage, dying: SimulatedBroker) -> list[frozenset[int]]:
    """Who clients are not sent to, by each of the others."""
    running = [broker.running for broker in stage.brokers.values() if broker is not dying]
    return [one.broker.fetching.leaders_in_doubt() for one in running if one is not None]


def test_clients_are_not_sent_to_a_dead_leader_while_it_still_counts_as_leader() -> None:
    async def story(stage: Stage) -> None:
        dying = await with_leader(stage, is_controller=False)
        await asyncio.sleep(1)  # until it has answered those that have just begun to follow it
        dying.is_wanted = False
        dying.machine.kill()
        await stage.until(lambda: leaders_in_doubt(stage, dying) == [{dying.id}] * 2)
        assert stage.state().leader == dying.id
        await until_other_leads(stage, dying)
        await stage.until(lambda: not any(leaders_in_doubt(stage, dying)))

    played(story, THREE)


def test_clients_are_not_sent_to_a_dead_leader_before_all_have_heard_of_another() -> None:
    async def story(stage: Stage) -> None:
        dying = await with_leader(stage, is_controller=False)
        await asyncio.sleep(1)
        dying.is_wanted = False
        dying.machine.kill()
        await stage.until(lambda: leaders_in_doubt(stage, dying) == [{dying.id}] * 2)
        others = [each.running for each in stage.brokers.values() if each is not dying]
        brokers = [each.broker for each in others if each is not None]
        # Whoever does not know yet who leads knows at least who does not.
        while wrong := [each for each in brokers if named_leader(each) == dying.id]:
            assert all(dying.id in each.fetching.leaders_in_doubt() for each in wrong)
            await asyncio.sleep(0.0005)

    played(story, THREE)


@pytest.mark.parametrize("end", ["power", "pause", "cut"])
def test_who_is_silent_is_given_the_time_of_its_session(end: str) -> None:
    async def story(stage: Stage) -> float:
        silent = await with_leader(stage, is_controller=False)
        silent.is_wanted = False
        if end == "power":
            silent.machine.lose_power(lose_all)
        elif end == "pause":
            silent.machine.pause()
        else:
            names = [other.machine.name for other in stage.brokers.values()]
            for name in (*names, "ensemble"):
                stage.world.network.link(name, silent.machine.name).cut()
                stage.world.network.link(silent.machine.name, name).cut()
        return await until_other_leads(stage, silent)

    assert played(story, THREE) > SESSION_TIMEOUT_S / 2


def test_a_connection_that_is_reset_and_then_silent_is_no_end() -> None:
    async def story(stage: Stage) -> tuple[int, int]:
        unheard = await with_leader(stage, is_controller=False)
        epoch = stage.state().leader_epoch
        names = stage.brokers[controller(stage)].machine.name, unheard.machine.name
        stage.world.network.reset(*names)
        await asyncio.sleep(0.05)
        stage.world.network.link(*names).cut()
        stage.world.network.reset(*names)
        await asyncio.sleep(15)
        return epoch, stage.state().leader_epoch

    before, after = played(story, THREE)
    assert before == after


def refuse(stage: Stage, target: SimulatedBroker) -> None:
    for other in stage.brokers.values():
        stage.world.network.refuse(other.machine.name, target.machine.name)


async def refused_for_a_while(stage: Stage) -> int:
    """A broker that serves is taken for gone; returns who leads while it is, or -1."""
    serving = await with_leader(stage, is_controller=False)
    refuse(stage, serving)
    await until_other_leads(stage, serving)
    stage.world.network.take_all()
    await stage.until(lambda: serving.id in stage.state().isr)
    assert serving.machine.lives == 1
    return stage.state().leader


def test_a_broker_that_was_only_refused_comes_back_by_itself() -> None:
    assert played(refused_for_a_while, THREE) > 0


def test_a_controller_that_was_only_refused_is_an_ordinary_broker_afterwards() -> None:
    async def story(stage: Stage) -> None:
        serving = await with_leader(stage, is_controller=True)
        refuse(stage, serving)
        await until_other_leads(stage, serving)
        assert controller(stage) not in (serving.id, -1)
        stage.world.network.take_all()
        await stage.until(lambda: len(stage.state().isr) == 3)
        running = serving.running
        assert running is not None
        assert not running.broker.controller.is_controller
        assert serving.machine.lives == 1

    played(story, THREE)


def test_a_connection_that_comes_and_goes_costs_nobody_the_lead() -> None:
    async def story(stage: Stage) -> tuple[int, int]:
        flapping = await with_leader(stage, is_controller=False)
        epoch = stage.state().leader_epoch
        for _ in range(30):
            refuse(stage, flapping)
            await asyncio.sleep(0.2)
            stage.world.network.take_all()
            await asyncio.sleep(0.15)
        return epoch, stage.state().leader_epoch

    before, after = played(story, THREE)
    assert before == after


@pytest.mark.parametrize("is_controller", [True, False])
def test_a_broker_that_is_started_at_once_does_not_wait_for_its_earlier_life(
    is_controller: bool,
) -> None:
    async def story(stage: Stage) -> float:
        loop = asyncio.get_running_loop()
        restarting = await with_leader(stage, is_controller=is_controller)
        path = broker_nodes.id_path(restarting.id)
        before = stage.world.ensemble.nodes.exists(path)
        assert before is not None
        restarting.machine.kill()
        began_s = loop.time()
        restarting.start()

        def is_registered() -> bool:
            stat = stage.world.ensemble.nodes.exists(path)
            return stat is not None and stat.czxid > before.czxid

        await stage.until(is_registered)
        await stage.until(lambda: controller(stage) != -1)
        registered_s = loop.time() - began_s
        await stage.until(lambda: len(stage.state().isr) == 3)
        return registered_s

    assert played(story, THREE) < 1.0


# Bugs that would be found


def test_a_watch_that_trusts_silence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    note = Presence.note

    def trust(self: Presence, sign: Sign, *, now_ms: int) -> bool:
        is_silent = sign is Sign.SILENT
        return note(self, Sign.REFUSED if is_silent else sign, now_ms=now_ms)

    monkeypatch.setattr(Presence, "note", trust)
    with pytest.raises(AssertionError):
        test_a_connection_that_is_reset_and_then_silent_is_no_end()


def test_a_watch_without_patience_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moldau.controller.presence.CONFIRMED_MS", 0)
    with pytest.raises(AssertionError):
        test_a_connection_that_comes_and_goes_costs_nobody_the_lead()


def test_a_watch_that_never_forgives_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    planted.never_take_back(monkeypatch)
    with pytest.raises(TimeoutError):
        test_a_broker_that_was_only_refused_comes_back_by_itself()
