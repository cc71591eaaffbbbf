"""The settings that topologies need."""

from moldau.streams.settings import SETTINGS


def test_state_is_kept_in_rocksdb() -> None:
    assert SETTINGS["spark.sql.streaming.stateStore.providerClass"].endswith(
        "RocksDBStateStoreProvider"
    )
