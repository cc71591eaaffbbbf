"""The admin client's life."""

import pytest

import moldau
from moldau.client.admin.admin import Admin
from moldau.errors import InvalidConfig
from moldau.testing.broker import EmbeddedBroker


def test_it_is_one_of_the_names_of_the_package() -> None:
    assert moldau.Admin is Admin


async def test_it_is_used_between_start_and_close(kafka: EmbeddedBroker) -> None:
    admin = Admin({"bootstrap.servers": kafka.bootstrap_servers})
    with pytest.raises(RuntimeError, match="not started"):
        await admin.list_topics()
    await admin.close()
    async with admin:
        assert await admin.list_topics() == {}
    await admin.close()
    with pytest.raises(RuntimeError, match="closed"):
        await admin.list_topics()


def test_a_wrong_setting_is_refused_with_the_nearest_right_one() -> None:
    with pytest.raises(InvalidConfig, match=r"default_api_timeout_ms"):
        Admin(bootstrap_servers="localhost:9092", default_api_timeout=1)  # type: ignore[call-arg]


async def test_it_goes_on_when_the_broker_restarts(kafka: EmbeddedBroker) -> None:
    async with Admin(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5) as admin:
        (await admin.create_topics(["t"])).check()
        kafka.restart()
        assert list(await admin.list_topics()) == ["t"]
