"""What nodes contain is in no log, however much is logged."""

import logging
from pathlib import Path

import pytest

from moldau.coordination.tree import BadVersion, Create, SetData
from moldau.coordination.zookeeper import ZooKeeperTree
from unit.zookeeper.serving import served

SECRETS = [f"of-the-user-{number}".encode() for number in range(4)]


async def test_cve_2026_24308_secrets_of_nodes_and_sessions_are_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # Commands of the same process may have set the level of its logger.
    with caplog.at_level(1), caplog.at_level(1, "kazoo.client"):
        async with served(tmp_path / "tree.sqlite") as (_, port):
            tree = await ZooKeeperTree.open(
                f"127.0.0.1:{port}",
                session_timeout_ms=2000,
                connect_timeout_ms=10_000,
                requests_max=10,
            )
            await tree.create(Create("/anna", SECRETS[0]))
            assert (await tree.get("/anna")).data == SECRETS[0]
            await tree.set("/anna", SECRETS[1])
            with pytest.raises(BadVersion):
                await tree.set("/anna", SECRETS[2], version=7)
            await tree.multi([Create("/ben", SECRETS[3]), SetData("/anna", SECRETS[2])])
            session = tree._client._session_passwd
            await tree.close()
    told = [record for record in caplog.records if record.name.startswith("kazoo")]
    assert any("SetData /anna" in record.getMessage() for record in told)
    assert {record.levelno for record in told} >= {logging.DEBUG, logging.INFO}
    for secret in (*SECRETS, session):
        for form in (secret.decode(errors="replace"), repr(bytes(secret))[2:-1], secret.hex()):
            assert form not in caplog.text
