"""What a broker refuses to start with, because it could not keep its promise."""

import pytest

from moldau.broker.unsupported import refuse_unsupported
from moldau.config.broker.startup import read_startup
from moldau.errors import InvalidConfig


def test_a_plain_broker_may_start() -> None:
    refuse_unsupported(read_startup({"listeners": "PLAINTEXT://:9092"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("authorizer.class.name", "kafka.security.authorizer.AclAuthorizer"),
        ("listeners", "PLAINTEXT://:9092,SSL://:9093"),
        ("zookeeper.connect", "localhost:2181"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidConfig, match=name):
        refuse_unsupported(read_startup({name: value}))
