"""The embedded store."""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.coordination.embedded import EmbeddedTree
from moldau.coordination.journal import FILE_NAME, StoreError, TreeJournal
from moldau.coordination.tree import (
    Create,
    Delete,
    SessionLost,
    SessionState,
    SetData,
    Tree,
    TreeError,
    TreeNode,
)
from moldau.runtime.clock import SystemClock
from unit.coordination.contract import Open, Recorder, TreeContract


@pytest.fixture
async def open_tree(tmp_path: Path) -> AsyncIterator[Open]:
    opened: list[EmbeddedTree] = []

    async def open_tree(requests_max: int = 1000) -> EmbeddedTree:
        path = str(tmp_path / FILE_NAME)
        tree = await EmbeddedTree.open(path, clock=SystemClock(), requests_max=requests_max)
        opened.append(tree)
        return tree

    yield open_tree
    for tree in opened:
        await tree.close()


class TestEmbeddedTree(TreeContract):
    async def test_everything_but_ephemeral_nodes_is_there_after_a_restart(
        self, open_tree: Open
    ) -> None:
        tree = await open_tree()
        await tree.create(Create("/a", b"1"))
        await tree.create(Create("/a/n", is_sequential=True))
        await tree.create(Create("/e", is_ephemeral=True))
        before = await tree.set("/a", b"2")
        await tree.close()
        again = await open_tree()
        node = await again.get("/a")
        assert (node.data, node.stat) == (b"2", before)
        assert await again.exists("/e") is None
        assert again.session_id > tree.session_id
        second = await again.create(Create("/a/n", is_sequential=True))
        assert second.path == "/a/n0000000001"
        assert second.stat.czxid > before.mzxid

    async def test_a_killed_process_leaves_no_ephemeral_nodes(
        self, open_tree: Open, tmp_path: Path
    ) -> None:
        tree = await open_tree()
        created = await tree.create(Create("/e", is_ephemeral=True))
        # What a kill leaves is what was committed: a copy of the files at this moment.
        shutil.copytree(tmp_path, tmp_path / "copy")
        again = await EmbeddedTree.open(str(tmp_path / "copy" / FILE_NAME), clock=SystemClock())
        assert await again.exists("/e") is None
        assert (await again.create(Create("/e"))).stat.czxid > created.stat.czxid
        await again.close()

    async def test_what_was_answered_is_in_the_file(self, open_tree: Open, tmp_path: Path) -> None:
        tree = await open_tree()
        await tree.create(Create("/a", b"1"))
        await tree.close()
        with TreeJournal(str(tmp_path / FILE_NAME)) as journal:
            assert [row.path for row in journal.rows()] == ["/", "/a"]

    async def test_more_requests_than_may_be_under_way_wait_for_their_turn(
        self, open_tree: Open
    ) -> None:
        tree = await open_tree(requests_max=2)
        await tree.create(Create("/a"))
        created = await asyncio.gather(
            *(tree.create(Create("/a/n", is_sequential=True)) for _ in range(50))
        )
        assert [each.path[-2:] for each in created] == [f"{n:02d}" for n in range(50)]

    async def test_a_cancelled_request_still_takes_effect_and_holds_nobody_up(
        self, open_tree: Open
    ) -> None:
        tree = await open_tree()
        request = asyncio.ensure_future(tree.create(Create("/a")))
        await asyncio.sleep(0)
        request.cancel()
        await tree.create(Create("/b"))
        assert await tree.exists("/a") is not None

    async def test_a_failed_commit_ends_the_session(
        self, open_tree: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree = await open_tree()
        listener = Recorder()
        tree.listen(listener)

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("disk is full")

        monkeypatch.setattr(TreeJournal, "commit", fail)
        with pytest.raises(SessionLost):
            await tree.create(Create("/a"))
        with pytest.raises(SessionLost):
            await tree.exists("/a")
        assert listener.told == [SessionState.LOST]

    async def test_a_store_that_cannot_be_written_can_be_closed(
        self, open_tree: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree = await open_tree()
        await tree.create(Create("/e", is_ephemeral=True))

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("disk is full")

        monkeypatch.setattr(TreeJournal, "commit", fail)
        await tree.close()
        with pytest.raises(SessionLost):
            await tree.get("/")

    async def test_a_second_broker_is_kept_off_the_file(self, open_tree: Open) -> None:
        await open_tree()
        with pytest.raises(StoreError, match="in use"):
            await open_tree()

    async def test_a_file_that_is_no_store_is_named(self, open_tree: Open, tmp_path: Path) -> None:
        (tmp_path / FILE_NAME).write_bytes(b"something else" * 1000)
        with pytest.raises(StoreError, match=f"{FILE_NAME} is damaged"):
            await open_tree()


_PATHS = st.sampled_from(["/a", "/b", "/a/x", "/a/y", "/a/x/z"])
_OPERATIONS = st.one_of(
    st.builds(Create, _PATHS, st.binary(max_size=3), st.booleans(), st.booleans()),
    st.builds(SetData, _PATHS, st.binary(max_size=3), st.integers(-1, 2)),
    st.builds(Delete, _PATHS, st.integers(-1, 1)),
)


@given(st.lists(st.lists(_OPERATIONS, min_size=1, max_size=3), max_size=15))
@settings(max_examples=15, deadline=None)
def test_after_a_restart_the_tree_is_what_it_was(
    tmp_path_factory: pytest.TempPathFactory, transactions: list[list[Create | SetData | Delete]]
) -> None:
    path = str(tmp_path_factory.mktemp("store") / FILE_NAME)

    async def run() -> None:
        tree = await EmbeddedTree.open(path, clock=SystemClock())
        for operations in transactions:
            persistent = [
                Create(each.path, each.data, is_sequential=each.is_sequential)
                if isinstance(each, Create)
                else each
                for each in operations
            ]
            with contextlib.suppress(TreeError):
                await tree.multi(persistent)
        before = await _everything(tree, "/")
        await tree.close()
        tree = await EmbeddedTree.open(path, clock=SystemClock())
        after = await _everything(tree, "/")
        await tree.close()
        assert after == before

    asyncio.run(run())


async def _everything(tree: Tree, path: str) -> dict[str, TreeNode]:
    found = {path: await tree.get(path)}
    for name in await tree.children(path):
        found |= await _everything(tree, f"{path.rstrip('/')}/{name}")
    return found
