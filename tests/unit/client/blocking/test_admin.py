"""The admin client without `await`."""

import inspect

import pytest

from moldau.client.admin import admin
from moldau.client.blocking import Admin
from moldau.client.blocking.mirror import Mirrored
from moldau.errors import NetworkException, TopicAlreadyExists
from moldau.testing.broker import EmbeddedBroker


def test_every_method_is_there() -> None:
    methods = {
        name
        for name, member in inspect.getmembers(admin.Admin, inspect.iscoroutinefunction)
        if not name.startswith("_") and name not in ("start", "close")
    }
    mirrored = {name for name, member in vars(Admin).items() if isinstance(member, Mirrored)}
    assert mirrored == methods


def test_it_blocks_and_raises(kafka: EmbeddedBroker) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as blocking:
        assert blocking.create_topics(["t"])["t"].partitions == 1
        with pytest.raises(TopicAlreadyExists):
            blocking.create_topics(["t"]).check()
        assert list(blocking.list_topics()) == ["t"]
    blocking.close()
    with pytest.raises(RuntimeError, match="closed"):
        blocking.list_topics()


def test_nobody_there_is_an_error_that_says_what_was_tried() -> None:
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1"):
        Admin(bootstrap_servers="127.0.0.1:1", default_api_timeout_ms=1)
