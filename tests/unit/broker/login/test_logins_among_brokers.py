"""Brokers log in to each other by everything that clients have, and nobody else may be one."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from moldau import Admin, Producer
from moldau.broker.main import Ports, running
from moldau.client.admin.topics import NewTopic
from moldau.config.broker.startup import read_startup
from moldau.coordination.layout.configs import encode_config
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from moldau.runtime.clock import SystemClock
from moldau.security.scram import MECHANISMS as SCRAM
from moldau.security.scram import ScramSecret
from unit.broker.login.secured import ADMIN, ADMIN_PASSWORD, MECHANISMS, client, settings


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_brokers_follow_each_other_by_every_mechanism(mechanism: str, tmp_path: Path) -> None:
    ensemble = MemoryEnsemble(SystemClock())

    async def open_tree(*_: object) -> MemoryTree:
        return ensemble.connect()

    users = {
        each: ScramSecret.of_password(each, ADMIN_PASSWORD, salt=b"salt", iterations=4096).to_text()
        for each in SCRAM
    }
    tree = ensemble.connect()
    for path in ("/config", "/config/users"):
        await tree.create(Create(path))
    await tree.create(Create(f"/config/users/{ADMIN}", encode_config(users)))
    async with AsyncExitStack() as stack:
        for number in range(2):
            own = settings(
                mechanism,
                broker_id=str(number),
                zookeeper_connect="memory:2181",
                log_dirs=str(tmp_path / str(number)),
                authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
                super_users=f"User:{ADMIN}",
            )
            started = await stack.enter_async_context(
                running(read_startup(own), Ports(open_tree=open_tree))
            )
        servers = f"127.0.0.1:{started.ports['SASL_PLAINTEXT']}"
        options = client(servers, "PLAIN", ADMIN, ADMIN_PASSWORD)
        async with Admin(options) as admin:
            (await admin.create_topics([NewTopic("t", 2, 2)])).check()
        async with Producer[bytes, bytes](options, acks="all") as producer:
            for partition in range(2):
                place = await producer.send_and_wait("t", b"value", partition=partition)
                assert place.offset == 0
        assert "failed_authentication_total" in started.broker.metrics.text()
