"""Who a broker is: told, remembered or new."""

import asyncio

import pytest

from moldau.broker.membership.identity import BrokerIdentity, establish
from moldau.config.broker.broker import read_broker_config
from moldau.coordination.layout import cluster as cluster_nodes
from moldau.coordination.layout.roots import PERSISTENT_PATHS
from moldau.coordination.memory import MemoryEnsemble
from moldau.errors import InvalidConfig
from moldau.log import meta_properties
from moldau.log.meta_properties import MetaProperties
from moldau.model import format_uuid
from moldau.testing.disk import MemoryDisk
from unit.broker.world import SettableClock

UUID = bytes(range(16))


def disk_of(owner: MetaProperties | None = None) -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/logs")
    if owner is not None:
        meta_properties.write(disk, "/logs/meta.properties", owner)
    return disk


async def who(
    ensemble: MemoryEnsemble, disk: MemoryDisk, configured_id: int = -1, uuid: bytes = UUID
) -> BrokerIdentity:
    config = read_broker_config({"log.dirs": "/logs", "broker.id": str(configured_id)})
    return await establish(ensemble.connect(), disk, config, uuid=uuid)


async def who_in_cluster(
    ensemble: MemoryEnsemble, disk: MemoryDisk, **settings: str
) -> BrokerIdentity:
    texts = {name.replace("_", "."): text for name, text in settings.items()}
    config = read_broker_config(
        {"log.dirs": "/logs", "zookeeper.connect": "localhost:2181", **texts}
    )
    return await establish(ensemble.connect(), disk, config, uuid=UUID)


async def test_brokers_of_a_cluster_get_numbers_of_their_own() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    identities = await asyncio.gather(*(who_in_cluster(ensemble, disk_of()) for _ in range(3)))
    assert sorted(identity.broker_id for identity in identities) == [1001, 1002, 1003]
    remembered = await who_in_cluster(ensemble, disk_of(MetaProperties(1002, None)))
    assert remembered.broker_id == 1002


async def test_without_generation_a_number_must_be_set() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    with pytest.raises(InvalidConfig, match=r"broker\.id: must be set"):
        await who_in_cluster(ensemble, disk_of(), broker_id_generation_enable="false")


async def test_in_a_cluster_the_tree_says_which_it_is() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    disk = disk_of(MetaProperties(1, "another-cluster"))
    assert (await who_in_cluster(ensemble, disk)).cluster_id == format_uuid(UUID)


async def test_a_first_broker_is_number_0_of_a_new_cluster() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    assert await who(ensemble, disk_of()) == BrokerIdentity(0, format_uuid(UUID))
    tree = ensemble.connect()
    for path in (*PERSISTENT_PATHS, cluster_nodes.ID_PATH):
        assert await tree.exists(path) is not None


async def test_the_cluster_keeps_its_id_and_the_setting_is_the_brokers() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    await who(ensemble, disk_of())
    assert await who(ensemble, disk_of(), 5, bytes(16)) == BrokerIdentity(5, format_uuid(UUID))


async def test_what_the_log_directories_remember_is_kept() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    disk = disk_of(MetaProperties(1001, "remembered-cluster"))
    assert await who(ensemble, disk) == BrokerIdentity(1001, "remembered-cluster")


async def test_an_old_directory_may_not_know_its_cluster() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    disk = disk_of(MetaProperties(7, None))
    assert await who(ensemble, disk) == BrokerIdentity(7, format_uuid(UUID))


async def test_brokers_that_start_at_once_agree_on_the_cluster() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    identities = await asyncio.gather(
        *(who(ensemble, disk_of(), number, bytes([number] * 16)) for number in range(4))
    )
    assert len({identity.cluster_id for identity in identities}) == 1
