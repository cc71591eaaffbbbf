"""Keys that are renewed while clients connect, as many as come: none of them is turned away."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from moldau import Admin
from moldau.broker.main import Ports, RunningBroker, running
from moldau.client.admin.configs import ConfigKind, ConfigResource
from moldau.config.broker.startup import read_startup

CA = authority()
RENEWALS = 8
PATIENCE_S = 60


@asynccontextmanager
async def broker_with(store: Path) -> AsyncIterator[RunningBroker]:
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "log.dirs": str(store.with_suffix("")),
        "listener.name.ssl.ssl.keystore.location": str(store),
    }
    async with running(read_startup(settings), Ports()) as started:
        yield started


def der(one: Identity) -> bytes:
    return ssl.PEM_cert_to_DER_cert(one.certificate_pem)


async def connect(port: int, context: ssl.SSLContext) -> bytes:
    """The certificate that a new connection is shown."""
    _, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname="127.0.0.1"
    )
    shown: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return shown


async def by_file(started: RunningBroker, store: Path, own: Identity) -> None:
    """As an agent does that renews certificates: another file of the same name, and a signal."""
    aside = store.with_suffix(".new")
    own.write(aside)
    os.replace(aside, store)
    started.broker.key_stores.look_again()


async def by_setting(started: RunningBroker, store: Path, own: Identity) -> None:
    """As Kafka's tools do: the setting names another file."""
    other = store.with_name(f"{own.certificate.serial_number}.pem")
    own.write(other)
    async with Admin({"bootstrap.servers": f"127.0.0.1:{started.ports['PLAINTEXT']}"}) as admin:
        this_broker = ConfigResource(ConfigKind.BROKER, "0")
        changes = {"listener.name.ssl.ssl.keystore.location": str(other)}
        (await admin.incremental_alter_configs({this_broker: changes})).check()


Renewal = Callable[[RunningBroker, Path, Identity], Awaitable[None]]


@pytest.mark.parametrize("renew", [by_file, by_setting])
async def test_no_client_is_turned_away_while_keys_are_renewed(
    renew: Renewal, tmp_path: Path
) -> None:
    store = tmp_path / "broker.pem"
    identity(CA, "broker").write(store)
    context = ssl.create_default_context(cadata=CA.certificate_pem)
    shown: list[bytes] = []

    async def keep_connecting(port: int) -> None:
        while True:
            shown.append(await connect(port, context))

    async with broker_with(store) as started, asyncio.timeout(PATIENCE_S):
        port = started.ports["SSL"]
        async with asyncio.TaskGroup() as tasks:  # which ends with the first that fails
            callers = [tasks.create_task(keep_connecting(port)) for _ in range(4)]
            for _ in range(RENEWALS):
                own = identity(CA, "broker")
                await renew(started, store, own)
                while shown.count(der(own)) < 3:
                    await asyncio.sleep(0)
            for caller in callers:
                caller.cancel()
