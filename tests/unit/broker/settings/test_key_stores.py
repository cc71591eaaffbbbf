"""Key stores of listeners, renewed while the broker runs."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from moldau.broker.settings import key_stores as module
from moldau.broker.settings.key_stores import KeyStores
from moldau.config.effective import BrokerLayers
from moldau.config.listeners import Listeners, read_listeners
from moldau.errors import InvalidConfig, InvalidRequest
from unit.waiting import LoopTime, settled, until

CA = authority()
PREFIX = "listener.name.ssl."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    identity(CA, "broker").write(tmp_path / "broker.pem")
    return tmp_path / "broker.pem"


def layers_of(place: Path, among: str = "PLAINTEXT", **dynamic: str) -> BrokerLayers:
    static = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "security.inter.broker.protocol": among,
        "ssl.keystore.location": str(place),
        "ssl.truststore.certificates": CA.certificate_pem,
    }
    own = {PREFIX + name.replace("_", "."): value for name, value in dynamic.items()}
    return BrokerLayers(static, {}, own)


def listeners_of(layers: BrokerLayers) -> Listeners:
    return read_listeners(layers.config.network, layers.texts)


def opened(layers: BrokerLayers) -> KeyStores:
    return KeyStores(listeners_of(layers), layers)


def shown_by(stores: KeyStores) -> bytes:
    """The certificate that a new connection is shown."""
    context = stores.server_context("SSL")
    assert context is not None
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(cadata=CA.certificate_pem)
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    theirs = client.wrap_bio(down, up, server_hostname="localhost")
    ours = context().wrap_bio(up, down, server_side=True)
    for end in (theirs, ours, theirs):
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = theirs.getpeercert(binary_form=True)
    assert shown is not None
    return shown


def renew(place: Path, own: Identity, time_s: int = 1) -> bytes:
    own.write(place)
    os.utime(place, (time_s, time_s))
    return ssl.PEM_cert_to_DER_cert(own.certificate_pem)


def damage(place: Path) -> None:
    place.write_text("nothing")


@asynccontextmanager
async def at_work(stores: KeyStores) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(stores.run())
        yield
        running.cancel()


async def test_listeners_without_tls_have_no_context(place: Path) -> None:
    stores = opened(layers_of(place))
    assert stores.server_context("PLAINTEXT") is None
    assert stores.client_context("PLAINTEXT") is None
    assert stores.client_context("SSL") is not None


async def test_a_file_that_changed_is_read_within_a_minute(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = LoopTime(monkeypatch)
    stores = opened(layers_of(place))
    async with at_work(stores):
        await settled()
        new = renew(place, identity(CA, "broker"))
        await settled()
        assert shown_by(stores) != new
        time.jump(module.LOOK_INTERVAL_S + 1)
        await until(lambda: shown_by(stores) == new)


async def test_a_signal_has_it_read_at_once(place: Path) -> None:
    stores = opened(layers_of(place))
    async with at_work(stores):
        new = renew(place, identity(CA, "broker"))
        stores.look_again()
        await until(lambda: shown_by(stores) == new)


async def test_a_broken_file_is_told_and_the_old_one_stays(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stores = opened(layers_of(place))
    before = shown_by(stores)
    async with at_work(stores):
        damage(place)
        stores.look_again()
        await until(lambda: "Failed to renew the key store of SSL" in caplog.text)
        renew(place, identity(CA, "somebody else"))
        caplog.clear()
        stores.look_again()
        await until(lambda: "DistinguishedName does not match" in caplog.text)
    assert shown_by(stores) == before


async def test_an_alteration_is_checked_and_then_used_at_once(place: Path, tmp_path: Path) -> None:
    stores = opened(layers_of(place))
    new = renew(tmp_path / "new.pem", identity(CA, "broker"))
    changed = layers_of(place, ssl_keystore_location=str(tmp_path / "new.pem"))
    await stores.check(changed)
    assert shown_by(stores) != new  # it may have been a check alone
    stores.apply(changed)
    assert shown_by(stores) == new


async def test_what_another_broker_wrote_is_read_without_a_check_before(
    place: Path, tmp_path: Path
) -> None:
    stores = opened(layers_of(place))
    new = renew(tmp_path / "new.pem", identity(CA, "broker"))
    async with at_work(stores):
        stores.apply(layers_of(place, ssl_keystore_location=str(tmp_path / "new.pem")))
        await until(lambda: shown_by(stores) == new)


@pytest.mark.parametrize(
    ("among", "own", "reason"),
    [
        ("PLAINTEXT", identity(CA, "other"), "SSLFactory failed: Keystore DistinguishedName"),
        ("PLAINTEXT", identity(CA, "broker", "127.0.0.9"), "SubjectAltNames do not match"),
        ("SSL", identity(authority(), "broker"), "can't connect to a server"),
    ],
)
async def test_an_alteration_that_would_not_do_is_refused(
    place: Path, tmp_path: Path, among: str, own: Identity, reason: str
) -> None:
    stores = opened(layers_of(place, among))
    renew(tmp_path / "new.pem", own)
    changed = layers_of(place, among, ssl_keystore_location=str(tmp_path / "new.pem"))
    with pytest.raises(InvalidRequest, match=reason):
        await stores.check(changed)


async def test_an_unreadable_store_keeps_a_broker_from_starting(place: Path) -> None:
    damage(place)
    with pytest.raises(InvalidConfig, match=r"listener SSL://127\.0\.0\.1:0: .*neither PEM nor"):
        opened(layers_of(place))
