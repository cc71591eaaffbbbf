"""What the server does for a request."""

import pytest

from moldau.coordination.nodes import Nodes
from moldau.coordination.tree import Change, WatchEvent
from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader
from moldau.zookeeper.messages import Err, Op, Refused
from moldau.zookeeper.requests import Handled, Requests, TreeClient, new_client, with_own_nodes
from moldau.zookeeper.watch_table import WatchKind, WatchTable
from unit.zookeeper.asking import END, acls, create, part, set_data, versioned, watched


class Asking:
    """Clients that ask, by their names."""

    def __init__(self) -> None:
        self.nodes = Nodes(with_own_nodes([]))
        self.watches: WatchTable[str] = WatchTable()
        self.requests = Requests(self.nodes, self.watches)
        self.clients: dict[str, TreeClient[str]] = {}

    def client(self, name: str) -> TreeClient[str]:
        number = len(self.clients) + 1
        return self.clients.setdefault(name, new_client(number, "127.0.0.1", name))

    def ask(self, op: Op, body: bytes, name: str = "ann") -> Handled:
        return self.requests.handle(self.client(name), op, JuteReader(body), now_ms=5)

    def prove(self, proof: bytes, name: str = "ann", scheme: str = "digest") -> None:
        body = jute.integer(0) + jute.text(scheme) + jute.buffer(proof)
        self.requests.prove(self.client(name), JuteReader(body))


@pytest.fixture
def asking() -> Asking:
    return Asking()


def test_a_new_tree_has_the_nodes_of_zookeeper(asking: Asking) -> None:
    found = JuteReader(asking.ask(Op.GET_CHILDREN, watched("/")).body)
    assert found.texts() == ["zookeeper"]
    # They were there from the beginning: nobody has created them.
    assert asking.nodes.exists("/").children_version == -1  # type: ignore[union-attr]
    assert len(with_own_nodes(with_own_nodes([]))) == 3


def test_a_node_is_created_read_set_and_deleted(asking: Asking) -> None:
    done = asking.ask(Op.CREATE, create("/a", b"one"))
    assert JuteReader(done.body).text() == "/a"
    assert done.transaction is not None
    assert asking.ask(Op.SET_DATA, set_data("/a", b"two", 0)).error == Err.OK
    read = asking.ask(Op.GET_DATA, watched("/a", is_watched=False))
    assert JuteReader(read.body).buffer() == b"two"
    assert read.transaction is None
    assert asking.ask(Op.DELETE, versioned("/a", 0)).error == Err.BAD_VERSION
    assert asking.ask(Op.DELETE, versioned("/a", 1)).error == Err.OK
    assert asking.ask(Op.GET_DATA, watched("/a")).error == Err.NO_NODE


def test_the_newer_create_also_gives_the_stat(asking: Asking) -> None:
    body = asking.ask(Op.CREATE2, create("/a", b"one")).body
    assert len(body) == len(jute.text("/a")) + 68


def test_several_operations_are_done_together_or_not_at_all(asking: Asking) -> None:
    first = part(Op.CREATE, create("/a"))
    refused = asking.ask(Op.MULTI, first + part(Op.CHECK, versioned("/b")) + END)
    assert (refused.error, refused.transaction) == (Err.OK, None)
    assert asking.nodes.exists("/a") is None
    invalid = asking.ask(Op.MULTI, first + part(Op.CREATE, create("/b", acls=acls())) + END)
    assert jute.integer(Err.INVALID_ACL) in invalid.body
    assert asking.nodes.exists("/a") is None
    done = asking.ask(Op.MULTI, first + part(Op.SET_DATA, set_data("/a", b"x")) + END)
    assert done.transaction is not None
    assert asking.nodes.get("/a").data == b"x"


def test_several_reads_fail_one_by_one(asking: Asking) -> None:
    asking.ask(Op.CREATE, create("/a", b"one"))
    body = part(Op.GET_DATA, watched("/a")) + part(Op.GET_CHILDREN, watched("/b")) + END
    reader = JuteReader(asking.ask(Op.MULTI_READ, body).body)
    assert (reader.integer(), reader.flag(), reader.integer()) == (Op.GET_DATA, False, 0)
    assert reader.buffer() == b"one"


def test_a_missing_node_is_watched_only_by_who_asks_whether_it_exists(asking: Asking) -> None:
    for op in (Op.GET_DATA, Op.GET_CHILDREN):
        assert asking.ask(op, watched("/a")).error == Err.NO_NODE
    assert len(asking.watches) == 0
    assert asking.ask(Op.EXISTS, watched("/a")).error == Err.NO_NODE
    assert asking.watches.take(WatchEvent(Change.CREATED, "/a")) == ["ann"]


def test_who_may_not_read_is_told_so_and_watches_nothing(asking: Asking) -> None:
    asking.ask(Op.CREATE, create("/a", acls=acls((30, "world", "anyone"))))
    for op in (Op.EXISTS, Op.GET_DATA, Op.GET_CHILDREN2):
        with pytest.raises(Refused) as refused:
            asking.ask(op, watched("/a"))
        assert refused.value.code == Err.NO_AUTH
    with pytest.raises(Refused):
        asking.ask(Op.GET_ALL_CHILDREN_NUMBER, jute.text("/a"))
    assert len(asking.watches) == 0


def test_a_digest_is_masked_for_who_is_not_an_administrator(asking: Asking) -> None:
    asking.prove(b"ann:secret")
    mixed = acls((1, "world", "anyone"), (31, "auth", ""))
    asking.ask(Op.CREATE, create("/a", acls=mixed))
    assert b"ann:x" not in asking.ask(Op.GET_ACL, jute.text("/a")).body
    assert b"ann:x" in asking.ask(Op.GET_ACL, jute.text("/a"), "bob").body


def test_only_digests_are_proofs(asking: Asking) -> None:
    with pytest.raises(Refused) as refused:
        asking.prove(b"ann:secret", scheme="sasl")
    assert refused.value.code == Err.AUTH_FAILED
    asking.prove(b"ann:secret")
    asking.prove(b"ann:secret")
    found = asking.ask(Op.WHO_AM_I, b"").body
    assert found == (
        jute.integer(2)
        + jute.text("ip")
        + jute.text("127.0.0.1")
        + jute.text("digest")
        + jute.text("ann")
    )


def test_a_session_lists_its_own_ephemeral_nodes(asking: Asking) -> None:
    asking.ask(Op.CREATE, create("/a", flags=1))
    asking.ask(Op.CREATE, create("/b", flags=1), "bob")
    found = asking.ask(Op.GET_EPHEMERALS, jute.text("/")).body
    assert JuteReader(found).texts() == ["/a"]


def test_all_that_is_below_is_counted(asking: Asking) -> None:
    for path in ("/a", "/a/b", "/a/b/c"):
        asking.ask(Op.CREATE, create(path))
    found = asking.ask(Op.GET_ALL_CHILDREN_NUMBER, jute.text("/a")).body
    assert JuteReader(found).integer() == 2
    assert asking.ask(Op.GET_ALL_CHILDREN_NUMBER, jute.text("/x/")).error == Err.NO_NODE


def test_persistent_watches_are_added_checked_and_removed(asking: Asking) -> None:
    assert asking.ask(Op.ADD_WATCH, versioned("/a", 1)).body == jute.integer(0)
    assert asking.watches.has(WatchKind.RECURSIVE, "/a", "ann")
    assert asking.ask(Op.CHECK_WATCHES, versioned("/a", WatchKind.ANY)).error == Err.OK
    assert asking.ask(Op.REMOVE_WATCHES, versioned("/a", WatchKind.RECURSIVE)).error == Err.OK
    assert asking.ask(Op.REMOVE_WATCHES, versioned("/a", 5)).error == Err.NO_WATCHER
    for op in (Op.ADD_WATCH, Op.REMOVE_WATCHES):
        with pytest.raises(Refused):
            asking.ask(op, versioned("/a", 9))


def test_after_a_reconnect_what_was_missed_is_told_and_the_rest_watched(asking: Asking) -> None:
    asking.ask(Op.CREATE, create("/old"))
    seen = asking.nodes.last_zxid
    asking.ask(Op.CREATE, create("/new"))
    asking.ask(Op.SET_DATA, set_data("/new", b"x"))
    lists = [["/new", "/old", "/gone"], ["/new", "/never"], ["/", "/old"], ["/p"], ["/r"]]
    body = jute.long(seen) + b"".join(map(jute.texts, lists))
    told = asking.ask(Op.SET_WATCHES2, body, "bob").events
    assert told == [
        WatchEvent(Change.DATA, "/new"),
        WatchEvent(Change.DELETED, "/gone"),
        WatchEvent(Change.CREATED, "/new"),
        WatchEvent(Change.CHILDREN, "/"),
    ]
    watched_now = [
        (WatchKind.DATA, "/old"),
        (WatchKind.DATA, "/never"),
        (WatchKind.CHILDREN, "/old"),
        (WatchKind.PERSISTENT, "/p"),
        (WatchKind.RECURSIVE, "/r"),
    ]
    assert all(asking.watches.has(kind, path, "bob") for kind, path in watched_now)
    assert len(asking.watches) == len(watched_now)


def test_sync_answers_with_the_path(asking: Asking) -> None:
    assert asking.ask(Op.SYNC, jute.text("/a")).body == jute.text("/a")


def test_what_only_an_ensemble_can_do_is_not_implemented(asking: Asking) -> None:
    with pytest.raises(Refused) as refused:
        asking.ask(Op.CLOSE_SESSION, b"")
    assert refused.value.code == Err.UNIMPLEMENTED
