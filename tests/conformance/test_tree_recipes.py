"""kazoo's recipes on our tree: what people build from ephemeral nodes, sequences and watches."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.states import EventType
from kazoo.recipe.cache import TreeCache

from conformance.our_cluster import until
from conformance.our_tree import OurTree, our_tree

Start = Callable[[], KazooClient]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurTree]:
    with our_tree(tmp_path_factory.mktemp("tree")) as found:
        yield found


@pytest.fixture
def start(tree: OurTree) -> Iterator[Start]:
    with _clients(tree.port) as start:
        yield start


@contextmanager
def _clients(port: int) -> Iterator[Start]:
    started: list[KazooClient] = []

    def start() -> KazooClient:
        client = KazooClient(f"127.0.0.1:{port}", timeout=2)
        client.start()
        started.append(client)
        return client

    yield start
    for client in started:
        client.stop()
        client.close()


def test_a_lock_is_held_by_one_and_handed_on(start: Start) -> None:
    one, two = start(), start()
    first, second = one.Lock("/lock", "one"), two.Lock("/lock", "two")
    assert first.acquire(timeout=10)
    assert not second.acquire(blocking=False)
    assert second.contenders() == ["one"]
    one.stop()  # its session ends, and its lock with it
    assert second.acquire(timeout=10)
    second.release()


def test_an_election_has_a_leader_after_the_other(start: Start) -> None:
    one, two = start(), start()
    led: list[str] = []
    both = threading.Barrier(2, timeout=10)

    def lead(name: str) -> None:
        led.append(name)

    def first() -> None:
        both.wait()
        lead("one")

    running = threading.Thread(target=lambda: one.Election("/election", "one").run(first))
    running.start()
    until(lambda: two.Election("/election").contenders() == ["one"], "one is a candidate")
    other = threading.Thread(target=lambda: two.Election("/election", "two").run(lead, "two"))
    other.start()
    until(lambda: len(two.Election("/election").contenders()) == 2, "both are candidates")
    both.wait()
    running.join(10)
    other.join(10)
    assert led == ["one", "two"]


def test_a_party_knows_who_is_there(start: Start) -> None:
    one, two = start(), start()
    one.Party("/party", "one").join()
    party = two.Party("/party", "two")
    party.join()
    assert sorted(party) == ["one", "two"]
    one.stop()
    assert list(party) == ["two"]


def test_barriers_queues_and_counters(start: Start) -> None:
    one, two = start(), start()
    barrier = one.Barrier("/barrier")
    barrier.create()
    assert not two.Barrier("/barrier").wait(0.05)
    barrier.remove()
    assert two.Barrier("/barrier").wait(10)
    one.Queue("/queue").put(b"late")
    one.Queue("/queue").put(b"soon", priority=1)
    assert [two.Queue("/queue").get() for _ in range(3)] == [b"soon", b"late", None]
    counter = one.Counter("/counter")
    counter += 3
    other = two.Counter("/counter")
    other -= 1
    assert (other.value, counter.value) == (2, 2)


def test_watches_of_data_and_children_go_on_after_a_restart(tmp_path: Path) -> None:
    with our_tree(tmp_path / "tree") as tree, _clients(tree.port) as start:
        one, two = start(), start()
        data: list[bytes | None] = []
        children: list[list[str]] = []
        one.DataWatch("/watched", lambda found, _: data.append(found))
        one.ensure_path("/parent")
        one.ChildrenWatch("/parent", children.append)
        two.create("/watched", b"1")
        until(lambda: data[-1] == b"1", "the data is seen")
        tree.kill()
        tree.start()
        until(lambda: one.connected and two.connected, "both are back")
        two.retry(two.set, "/watched", b"2")
        two.retry(two.create, "/parent/child")
        until(lambda: data[-1] == b"2", "the next data is seen")
        until(lambda: children[-1] == ["child"], "the child is seen")


def test_a_cache_follows_a_tree_and_transactions_are_whole(start: Start) -> None:
    one, two = start(), start()
    one.ensure_path("/cached")
    cache = TreeCache(one, "/cached")
    cache.start()
    transaction = two.transaction()
    transaction.create("/cached/a", b"1")
    transaction.create("/cached/a/b", b"2")
    transaction.commit()
    until(lambda: cache.get_data("/cached/a/b") is not None, "the cache has it")
    failing = two.transaction()
    failing.delete("/cached/a/b")
    failing.check("/cached/a", version=9)
    failing.commit()
    assert two.exists("/cached/a/b")
    cache.close()


def test_one_event_is_told_once(start: Start) -> None:
    one, two = start(), start()
    told: list[EventType] = []
    one.exists("/once", watch=lambda event: told.append(event.type))
    two.create("/once")
    two.set("/once", b"x")
    one.exists("/once")
    until(lambda: told, "the event has come")
    assert told == [EventType.CREATED]
