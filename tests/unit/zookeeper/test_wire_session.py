"""A client that shows all that comes over the wire."""

from pathlib import Path

import pytest

from moldau.zookeeper.messages import NOTIFICATION_XID, Err, Op
from moldau.zookeeper.wire_session import WireSession
from unit.zookeeper.asking import create, watched
from unit.zookeeper.serving import blocking, served


async def test_events_come_before_the_answer_that_shows_them(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (_, port):

        def play() -> None:
            with WireSession("127.0.0.1", port) as session, WireSession("127.0.0.1", port) as other:
                assert session.ask(Op.EXISTS, watched("/a"))[-1].error == Err.NO_NODE
                event, answer = session.ask(Op.CREATE, create("/a"))
                assert (event.xid, answer.error) == (NOTIFICATION_XID, Err.OK)
                assert session.last_zxid == answer.zxid
                session.ask(Op.GET_DATA, watched("/a"))
                other.ask(Op.DELETE, b"\0\0\0\2/a\xff\xff\xff\xff")
                assert [each.xid for each in session.ping()] == [NOTIFICATION_XID]
                session.close()

        await blocking(play)


async def test_a_reset_connection_is_closed_before_the_next(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (_, port):

        def play() -> None:
            with WireSession("127.0.0.1", port) as session:
                reset = session._socket
                session.connect()
                assert reset.fileno() == -1
                assert session.ask(Op.EXISTS, watched("/"))[-1].error == Err.OK

        await blocking(play)


async def test_a_session_goes_on_over_another_connection_until_it_has_ended(tmp_path: Path) -> None:
    async with served(tmp_path / "tree") as (_, port):

        def play() -> None:
            session = WireSession("127.0.0.1", port)
            number = session.session_id
            session.ask(Op.CREATE, create("/a", flags=1))
            session.cut()
            session.connect()
            assert session.session_id == number
            assert session.ask(Op.EXISTS, watched("/a"))[-1].error == Err.OK
            session.close()
            with pytest.raises(ConnectionError, match="expired"):
                session.connect()

        await blocking(play)
