"""TLS on a transport: nothing lost or left lying, nothing held twice."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from certificates import authority, identity
from moldau.net import sockets
from moldau.runtime.disk import PosixDisk
from moldau.runtime.file_range import FileRange
from unit.net.tls_line import (
    WAYS,
    Below,
    CountingContext,
    TlsLine,
    client_tls,
    key_update,
    server_tls,
    tls_line,
    trusted,
    with_new_keys,
)
from unit.waiting import LoopTime, settled, until

pytestmark = pytest.mark.skipif(not sockets.IS_AVAILABLE, reason="this system has no epoll")

LARGE = bytes(range(256)) * 20_000


@pytest.fixture(params=WAYS.values(), ids=list(WAYS))
def way(request: pytest.FixtureRequest) -> Below:
    return cast("Below", request.param)


@pytest.fixture
async def line(way: Below) -> AsyncIterator[TlsLine]:
    async with tls_line(way) as line:
        await line.shake_hands()
        yield line


def file_of(path: Path, data: bytes) -> FileRange:
    path.write_bytes(data)
    return FileRange(PosixDisk().open_read(str(path)), 0, len(data))


async def test_both_sides_hear_each_other(line: TlsLine) -> None:
    await line.say(b"hello")
    await until(lambda: line.reader.heard == b"hello")
    line.transport.write(b"welcome")
    assert await line.hear(7) == b"welcome"
    assert line.engine.version() == "TLSv1.3"


async def test_who_connects_and_says_nothing_has_no_engine(way: Below) -> None:
    async with tls_line(way) as line:
        await settled()
        assert line.transport.get_extra_info("ssl_object") is None
        await line.shake_hands()
        assert line.transport.get_extra_info("ssl_object") is not None


async def test_a_handshake_and_records_may_come_byte_by_byte(way: Below) -> None:
    async with tls_line(way) as line:
        loop = asyncio.get_running_loop()

        async def send_in_bytes() -> None:
            for byte in line.outgoing.read():
                await loop.sock_sendall(line.peer, bytes((byte,)))
                await asyncio.sleep(0)

        while True:
            try:
                line.engine.do_handshake()
                break
            except ssl.SSLWantReadError:
                await send_in_bytes()
                await line.receive_some()
        for byte in b"a record each":
            line.engine.write(bytes((byte,)))
        await send_in_bytes()
        await until(lambda: line.reader.heard == b"a record each")


async def test_a_reader_that_pauses_gets_the_rest_without_an_event_of_the_socket(
    line: TlsLine,
) -> None:
    """Trap a: what has come lies in OpenSSL, and the socket is silent."""
    line.reader.listens = line.transport.pause_reading
    await line.say(b"x" * 5_000)
    await until(lambda: line.reader.heard)
    await settled()
    assert len(line.reader.heard) == len(line.reader.buffer)
    line.reader.listens = lambda: None
    line.transport.resume_reading()
    await until(lambda: len(line.reader.heard) == 5_000)


async def test_a_reader_may_pause_and_resume_while_it_is_given_bytes(line: TlsLine) -> None:
    def hesitate() -> None:
        line.transport.pause_reading()
        line.transport.resume_reading()

    line.reader.listens = hesitate
    await line.say(b"x" * 50_000)
    await until(lambda: len(line.reader.heard) == 50_000)


async def test_who_does_not_read_keeps_no_more_than_came_at_once(line: TlsLine) -> None:
    line.transport.pause_reading()
    loop = asyncio.get_running_loop()
    line.engine.write(LARGE[:16_000])
    saying = asyncio.create_task(loop.sock_sendall(line.peer, line.outgoing.read()))
    await settled()
    assert not line.reader.heard
    line.transport.resume_reading()
    await until(lambda: line.reader.heard == LARGE[:16_000])
    await saying


async def test_new_keys_that_are_asked_for_are_used(way: Below, tmp_path: Path) -> None:
    """Trap b: with TLS 1.3 an update of keys asks for one in return."""
    client = client_tls()
    client.keylog_filename = str(tmp_path / "keys")
    async with tls_line(way, client=client) as line:
        await line.shake_hands()
        line.peer.sendall(key_update((tmp_path / "keys").read_text()))
        await settled()
        assert line.reader.told == []
        line.transport.write(b"with new keys")  # OpenSSL puts its own update in front
        assert await line.hear(13) == b"with new keys"


async def test_an_end_without_notice_is_a_close_and_no_part_of_a_request(line: TlsLine) -> None:
    """Trap c: a truncation attack looks like this."""
    await line.say(b"half a requ")
    line.peer.shutdown(socket.SHUT_WR)
    await until(lambda: line.reader.told)
    assert line.reader.heard == b"half a requ"
    assert line.reader.told == ["lost"]


async def test_a_close_is_announced_after_all_that_was_written(line: TlsLine) -> None:
    """Trap d: peers take an end without notice for an error."""
    line.transport.write(LARGE)
    line.transport.close()
    assert await line.hear(len(LARGE)) == LARGE
    assert await line.hear(1) == b""  # without a notice this raises SSLEOFError


async def test_a_peer_that_says_it_is_done_gets_its_answers_and_a_close(line: TlsLine) -> None:
    line.transport.write(b"an answer")
    with pytest.raises(ssl.SSLWantReadError):
        line.engine.unwrap()
    await line.send()
    await until(lambda: line.reader.told == ["lost"])
    assert await line.hear(9) == b"an answer"


async def test_a_head_and_its_file_come_in_order(line: TlsLine, tmp_path: Path) -> None:
    """Trap e: the system cannot hold back records, so they are held here, for the first slice."""
    line.transport.write_before_file(b"head")
    await settled()
    with pytest.raises(BlockingIOError):
        line.peer.recv(1)
    piece = file_of(tmp_path / "file", LARGE)
    sending = asyncio.create_task(line.transport.send_file(piece.part(7, 1_000_000)))
    assert await line.hear(1_000_004) == b"head" + LARGE[7:1_000_007]
    assert await sending == 1_000_000
    line.transport.write(b"tail")
    assert await line.hear(4) == b"tail"


async def test_a_long_head_is_not_held_for_its_file(line: TlsLine) -> None:
    line.transport.set_write_buffer_limits(high=10_000_000)
    line.transport.write_before_file(LARGE[:200_000])
    assert await line.hear(100_000) == LARGE[:100_000]


async def test_no_ticket_is_sent_that_a_peer_would_leave_unread(line: TlsLine) -> None:
    """Trap g: a peer that sends and leaves with tickets unread loses what it sent."""
    await settled()
    with pytest.raises(BlockingIOError):
        line.peer.recv(1)
    await line.say(LARGE[:100_000])
    line.peer.close()
    await until(lambda: line.reader.told)
    assert len(line.reader.heard) == 100_000


async def test_what_the_peer_does_not_take_waits_and_comes_in_order(line: TlsLine) -> None:
    line.transport.set_write_buffer_limits(high=1_000)
    line.transport.write(LARGE)
    line.transport.write(b"and more")
    assert line.reader.told == ["full"]
    assert await line.hear(len(LARGE) + 8) == LARGE + b"and more"
    await until(lambda: line.reader.told == ["full", "room"])


async def test_a_file_is_sent_at_once_as_far_as_the_socket_takes_it(
    line: TlsLine, tmp_path: Path
) -> None:
    piece = file_of(tmp_path / "file", LARGE)
    sent = line.transport.send_file_at_once(piece)
    assert 0 < sent < len(LARGE)
    assert line.transport.send_file_at_once(piece) == 0  # the socket is full
    rest = asyncio.create_task(line.transport.send_file(piece.part(sent, len(LARGE) - sent)))
    assert await line.hear(len(LARGE)) == LARGE
    assert await rest == len(LARGE) - sent


async def test_a_large_file_takes_turns_with_others(line: TlsLine, tmp_path: Path) -> None:
    """However much the socket takes: encryption is work."""
    connected = line.transport.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_000_000)
    piece = file_of(tmp_path / "file", LARGE)
    assert line.transport.send_file_at_once(piece) <= 600_000


async def test_of_a_file_that_is_not_read_one_slice_is_held(line: TlsLine, tmp_path: Path) -> None:
    piece = file_of(tmp_path / "file", b"\0" * 50_000_000)
    sending = asyncio.create_task(line.transport.send_file(piece))
    await settled()
    assert 0 < line.transport.get_write_buffer_size() < 70_000
    sending.cancel()


async def test_a_file_that_ends_early_says_how_much_there_was(
    line: TlsLine, tmp_path: Path
) -> None:
    piece = file_of(tmp_path / "file", b"short")
    assert await line.transport.send_file(piece.part(1, 100)) == 4


async def test_a_file_whose_receiver_leaves_is_given_up(line: TlsLine, tmp_path: Path) -> None:
    piece = file_of(tmp_path / "file", LARGE)
    sending = asyncio.create_task(line.transport.send_file(piece))
    await asyncio.sleep(0)
    line.peer.close()
    with pytest.raises(ConnectionError):
        await sending


async def test_openssl_is_asked_once_for_each_record(way: Below) -> None:
    """Once more would cost an exception each time, for what its first bytes say."""
    context = CountingContext()
    async with tls_line(way, server=cast("ssl.SSLContext", context)) as line:
        await line.shake_hands()
        for size in (20, 3_000, 16_384):  # in a buffer of 1,000 bytes
            line.reader.heard.clear()
            context.reads = 0
            line.engine.write(LARGE[:size])
            whole = line.outgoing.read()
            line.peer.sendall(whole[:-1])
            await settled()
            assert context.reads == 0
            line.peer.sendall(whole[-1:])
            await until(lambda: line.reader.heard == LARGE[:size])  # noqa: B023 - called here
            assert context.reads == -(-size // len(line.reader.buffer))


@pytest.mark.parametrize("is_together", [True, False], ids=["together", "one by one"])
async def test_what_comes_with_new_keys_is_read(
    way: Below, tmp_path: Path, *, is_together: bool
) -> None:
    """An update of keys is a record without content: OpenSSL reads on behind it."""
    client = client_tls()
    client.keylog_filename = str(tmp_path / "keys")
    async with tls_line(way, client=client) as line:
        await line.shake_hands()
        key_log = (tmp_path / "keys").read_text()
        records = (key_update(key_log), with_new_keys(key_log, b"with new keys"))
        for data in [b"".join(records)] if is_together else records:
            line.peer.sendall(data)
            await settled()
        await until(lambda: line.reader.heard == b"with new keys")
        assert line.reader.told == []


async def test_what_is_no_record_ends_a_secure_connection_at_once(line: TlsLine) -> None:
    """And not when as much has come as its length says."""
    await line.say(b"before it")
    await until(lambda: line.reader.heard == b"before it")
    line.peer.sendall(b"\x17\3\3\xff\xff")
    await until(lambda: line.reader.told)


async def test_rubbish_on_a_secure_connection_ends_it(line: TlsLine) -> None:
    line.peer.sendall(b"\x17\x03\x03\x00\x20" + b"?" * 32)
    await until(lambda: line.reader.told)
    assert not line.reader.heard
    await line.receive_some()
    with pytest.raises(ssl.SSLError, match="BAD_RECORD_MAC"):
        line.engine.read()  # trap b as well: what reading has to say is said


async def test_who_speaks_plainly_gets_an_alert_and_is_hung_up_on(
    way: Below, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    time = LoopTime(monkeypatch)
    caplog.set_level("INFO")
    failures: list[str] = []
    async with tls_line(way, delay_s=60.0, failures=failures) as line:
        local, remote = (
            "{}:{}".format(*end) for end in (line.peer.getpeername(), line.peer.getsockname())
        )
        line.peer.sendall(b"\0\0\0\x10\0\x12\0\0")
        await line.receive_some()
        assert line.incoming.read() == bytes.fromhex("15030300020250")
        assert failures == ["failed"]
        assert line.reader.told == []  # yet
        time.jump(61)
        await until(lambda: line.reader.told == ["lost"])
        assert line.reader.heard == b""
    assert (
        f"Failed authentication with /127.0.0.1 (channelId={local}-{remote}) "
        "(SSL handshake failed): what came is not TLS" in caplog.text
    )


@pytest.mark.parametrize(
    ("client_auth", "who", "is_let_in"),
    [
        ("none", "nobody", True),
        ("none", "stranger", True),
        ("requested", "nobody", True),
        ("requested", "friend", True),
        ("requested", "stranger", False),
        ("requested", "late", False),
        ("required", "nobody", False),
        ("required", "friend", True),
        ("required", "stranger", False),
        ("required", "late", False),
    ],
)
async def test_whether_a_certificate_is_needed_is_a_setting(
    client_auth: str, who: str, is_let_in: bool
) -> None:
    own = {
        "nobody": None,
        "friend": identity(trusted(), "friend"),
        "stranger": identity(authority(), "stranger"),
        "late": identity(trusted(), "late", days=-1),
    }[who]
    failures: list[str] = []
    async with tls_line(
        WAYS["compiled"],
        server=server_tls(client_auth),
        client=client_tls(own),
        failures=failures,
    ) as line:
        secured: list[bytes | None] = []
        line.transport.on_secure = lambda: secured.append(
            line.transport.get_extra_info("peercert_der")
        )
        await line.shake_hands()  # with TLS 1.3 the client is done before it is refused
        await until(lambda: secured or failures)
    assert bool(secured) == is_let_in
    if is_let_in and own is not None and client_auth != "none":
        assert secured == [ssl.PEM_cert_to_DER_cert(own.certificate_pem)]


async def test_who_may_not_come_in_is_refused_before_the_first_byte(way: Below) -> None:
    def refuse() -> None:
        raise PermissionError("no rule")

    failures: list[str] = []
    async with tls_line(way, failures=failures) as line:
        line.transport.on_secure = refuse
        await line.shake_hands()
        await line.say(b"a request")
        await until(lambda: line.reader.told)
        assert failures == ["failed"]
        assert line.reader.heard == b""
