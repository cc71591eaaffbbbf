"""What every adapter of the tree must do; each runs these tests from its own test file.

A test class gets `open_tree`, a function that opens a session, as a fixture of its module.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from moldau.coordination.tree import (
    BadVersion,
    Change,
    Check,
    Create,
    Delete,
    NoChildrenForEphemerals,
    NodeExists,
    NodeStat,
    NoNode,
    NotEmpty,
    Operation,
    SessionLost,
    SessionState,
    SetData,
    Tree,
    TreeError,
    WatchEvent,
)
from unit.waiting import until

Open = Callable[..., Awaitable[Tree]]


class Recorder:
    """A watch and a session listener that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[WatchEvent | SessionState] = []

    def __call__(self, event: WatchEvent | SessionState) -> None:
        self.told.append(event)

    async def until(self, count: int) -> list[WatchEvent | SessionState]:
        await until(lambda: len(self.told) >= count)
        return self.told


class TreeContract:
    """One session."""

    @pytest.fixture
    async def tree(self, open_tree: Open) -> Tree:
        return await open_tree()

    async def test_a_created_node_has_its_data_and_version_zero(self, tree: Tree) -> None:
        created = await tree.create(Create("/a", b"data"))
        node = await tree.get("/a")
        assert (created.path, node.data) == ("/a", b"data")
        assert created.stat == node.stat
        assert (node.stat.version, node.stat.ephemeral_owner) == (0, 0)
        assert node.stat.czxid == node.stat.mzxid > 0

    async def test_a_node_needs_its_parent(self, tree: Tree) -> None:
        with pytest.raises(NoNode):
            await tree.create(Create("/a/b"))
        with pytest.raises(NoNode):
            await tree.get("/a")
        with pytest.raises(NoNode):
            await tree.children("/a")
        assert await tree.exists("/a") is None

    async def test_a_node_is_created_once(self, tree: Tree) -> None:
        await tree.create(Create("/a"))
        with pytest.raises(NodeExists):
            await tree.create(Create("/a"))

    async def test_data_is_set_only_at_the_expected_version(self, tree: Tree) -> None:
        first = (await tree.create(Create("/a", b"0"))).stat
        second = await tree.set("/a", b"1", version=0)
        assert (second.version, second.czxid) == (1, first.czxid)
        assert second.mzxid > first.mzxid
        with pytest.raises(BadVersion):
            await tree.set("/a", b"2", version=0)
        assert (await tree.get("/a")).data == b"1"
        assert (await tree.set("/a", b"3")).version == 2
        with pytest.raises(NoNode):
            await tree.set("/b", b"")

    async def test_a_node_is_deleted_only_without_children_and_at_its_version(
        self, tree: Tree
    ) -> None:
        await tree.create(Create("/a"))
        await tree.create(Create("/a/b"))
        with pytest.raises(NotEmpty):
            await tree.delete("/a")
        with pytest.raises(BadVersion):
            await tree.delete("/a/b", version=1)
        await tree.delete("/a/b", version=0)
        await tree.delete("/a")
        assert await tree.exists("/a") is None
        with pytest.raises(NoNode):
            await tree.delete("/a")

    async def test_children_are_listed_by_name(self, tree: Tree) -> None:
        for path in ("/a", "/a/z", "/a/b", "/a/b/c"):
            await tree.create(Create(path))
        assert await tree.children("/a") == ["b", "z"]
        stat = await tree.exists("/a")
        assert stat is not None
        assert stat.children_count == 2
        assert "a" in await tree.children("/")

    async def test_sequential_nodes_count_the_children_ever_created(self, tree: Tree) -> None:
        await tree.create(Create("/a"))
        numbered = Create("/a/n_", is_sequential=True)
        assert (await tree.create(numbered)).path == "/a/n_0000000000"
        await tree.create(Create("/a/other"))
        await tree.delete("/a/other")
        assert (await tree.create(numbered)).path == "/a/n_0000000002"

    async def test_an_ephemeral_node_belongs_to_its_session_and_has_no_children(
        self, tree: Tree
    ) -> None:
        created = await tree.create(Create("/e", is_ephemeral=True))
        assert created.stat.ephemeral_owner == tree.session_id != 0
        with pytest.raises(NoChildrenForEphemerals):
            await tree.create(Create("/e/child"))

    async def test_a_multi_does_everything_under_one_transaction_id(self, tree: Tree) -> None:
        await tree.create(Create("/a"))
        await tree.multi([Create("/x"), Create("/y")])
        assert (await tree.get("/x")).stat.czxid == (await tree.get("/y")).stat.czxid
        created, stat, deleted, checked = await tree.multi(
            [
                Create("/a/b", b"1"),
                SetData("/a", b"2", 0),
                Delete("/a/b", 0),
                Check("/a", 1),
            ]
        )
        assert created == "/a/b"
        assert isinstance(stat, NodeStat)
        assert stat.version == 1
        assert (deleted, checked) == (None, None)
        assert await tree.children("/a") == []

    @pytest.mark.parametrize(
        ("last", "error"),
        [
            (Check("/a", 7), BadVersion),
            (Check("/nowhere"), NoNode),
            (Create("/a"), NodeExists),
            (Delete("/a"), NotEmpty),
            (SetData("/a", b"", 0), BadVersion),
        ],
    )
    async def test_a_multi_with_a_failing_operation_does_nothing(
        self, tree: Tree, last: Operation, error: type[TreeError]
    ) -> None:
        await tree.create(Create("/a", b"0"))
        await tree.create(Create("/a/x"))
        with pytest.raises(error) as failed:
            await tree.multi(
                [
                    SetData("/a", b"1"),
                    Create("/a/b"),
                    Create("/a/n", is_sequential=True),
                    Delete("/a/b"),
                    last,
                ]
            )
        assert failed.value.index == 4
        assert (await tree.get("/a")).data == b"0"
        assert (await tree.get("/a")).stat.version == 0
        assert await tree.children("/a") == ["x"]
        created = await tree.create(Create("/a/n", is_sequential=True))
        assert created.path == "/a/n0000000001"

    async def test_a_watch_on_a_node_fires_once(self, tree: Tree) -> None:
        await tree.create(Create("/a"))
        watch = Recorder()
        await tree.get("/a", watch=watch)
        await tree.get("/a", watch=watch)
        await tree.set("/a", b"1")
        assert await watch.until(1) == [WatchEvent(Change.DATA, "/a")]
        await tree.set("/a", b"2")
        await tree.exists("/a", watch=watch)
        await tree.delete("/a")
        assert (await watch.until(2))[1:] == [WatchEvent(Change.DELETED, "/a")]

    async def test_a_watch_can_wait_for_a_missing_node_but_not_by_get(self, tree: Tree) -> None:
        watch, never = Recorder(), Recorder()
        assert await tree.exists("/a", watch=watch) is None
        with pytest.raises(NoNode):
            await tree.get("/a", watch=never)
        with pytest.raises(NoNode):
            await tree.children("/a", watch=never)
        await tree.create(Create("/a"))
        await tree.create(Create("/a/b"))
        assert watch.told == [WatchEvent(Change.CREATED, "/a")]
        assert never.told == []

    async def test_a_watch_on_children_hears_of_new_and_lost_ones_not_of_data(
        self, tree: Tree
    ) -> None:
        await tree.create(Create("/a"))
        watch = Recorder()
        await tree.children("/a", watch=watch)
        await tree.set("/a", b"1")
        assert watch.told == []
        await tree.create(Create("/a/b"))
        assert watch.told == [WatchEvent(Change.CHILDREN, "/a")]
        await tree.children("/a", watch=watch)
        await tree.set("/a/b", b"1")
        await tree.delete("/a/b")
        assert watch.told[1:] == [WatchEvent(Change.CHILDREN, "/a")]

    async def test_the_end_of_a_node_fires_both_kinds_of_watch(self, tree: Tree) -> None:
        await tree.create(Create("/a"))
        on_data, on_children = Recorder(), Recorder()
        await tree.get("/a", watch=on_data)
        await tree.children("/a", watch=on_children)
        await tree.delete("/a")
        assert on_data.told == on_children.told == [WatchEvent(Change.DELETED, "/a")]

    async def test_requests_take_effect_in_the_order_in_which_they_were_made(
        self, tree: Tree
    ) -> None:
        await tree.create(Create("/a"))
        _, first, _, second, _, children = await asyncio.gather(
            tree.set("/a", b"1"),
            tree.get("/a"),
            tree.set("/a", b"2"),
            tree.get("/a"),
            tree.create(Create("/a/b")),
            tree.children("/a"),
        )
        assert (first.data, second.data, children) == (b"1", b"2", ["b"])

    async def test_a_watch_hears_of_a_change_before_an_answer_shows_it(self, tree: Tree) -> None:
        await tree.create(Create("/a"))
        heard: list[Change | bytes] = []
        await tree.get("/a", watch=lambda event: heard.append(event.change))

        async def read() -> None:
            heard.append((await tree.get("/a")).data)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(tree.set("/a", b"1"))
            tasks.create_task(read())
        assert heard == [Change.DATA, b"1"]

    async def test_large_data_is_kept(self, tree: Tree) -> None:
        data = bytes(range(256)) * 2000
        await tree.create(Create("/a", data))
        assert (await tree.get("/a")).data == data

    async def test_a_closed_session_answers_no_more(self, tree: Tree) -> None:
        listener = Recorder()
        tree.listen(listener)
        await tree.close()
        assert (await listener.until(1))[-1] is SessionState.LOST
        with pytest.raises(SessionLost):
            await tree.get("/")
        with pytest.raises(SessionLost):
            await tree.create(Create("/a"))
        await tree.close()


class SessionsContract:
    """Several sessions."""

    async def test_sessions_see_each_others_changes(self, open_tree: Open) -> None:
        one, other = await open_tree(), await open_tree()
        assert one.session_id != other.session_id
        watch = Recorder()
        await one.exists("/a", watch=watch)
        await other.create(Create("/a", b"1"))
        assert await watch.until(1) == [WatchEvent(Change.CREATED, "/a")]
        assert (await one.get("/a")).data == b"1"

    async def test_the_end_of_a_session_takes_its_ephemeral_nodes(self, open_tree: Open) -> None:
        one, other = await open_tree(), await open_tree()
        await other.create(Create("/ids"))
        await other.create(Create("/ids/1", is_ephemeral=True))
        await one.create(Create("/ids/2", is_ephemeral=True))
        on_node, on_children = Recorder(), Recorder()
        await one.get("/ids/1", watch=on_node)
        await one.children("/ids", watch=on_children)
        await other.close()
        assert await on_node.until(1) == [WatchEvent(Change.DELETED, "/ids/1")]
        assert await on_children.until(1) == [WatchEvent(Change.CHILDREN, "/ids")]
        assert await one.children("/ids") == ["2"]

    async def test_a_node_created_again_has_a_greater_transaction_id(self, open_tree: Open) -> None:
        one, other = await open_tree(), await open_tree()
        first = await one.create(Create("/id", is_ephemeral=True))
        await one.close()
        second = await other.create(Create("/id", is_ephemeral=True))
        assert second.stat.czxid > first.stat.czxid
