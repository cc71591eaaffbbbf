"""Settings of the authorizer."""

import pytest

from moldau.config.alteration import check_broker_overrides
from moldau.config.broker.advice import warnings
from moldau.config.broker.authorizer import read_authorizer
from moldau.config.broker.broker import read_broker_config
from moldau.config.effective import BrokerLayers
from moldau.errors import InvalidConfig

AUTHORIZER = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "zookeeper.connect": "h:2181/kafka",
}


def test_there_is_none_unless_it_is_named() -> None:
    assert read_authorizer(read_broker_config({}), {"super.users": "User:a"}) is None


def test_settings_are_read() -> None:
    texts = {
        **AUTHORIZER,
        "super.users": "User:a; User:b",
        "allow.everyone.if.no.acl.found": "true",
    }
    found = read_authorizer(read_broker_config(texts), texts)
    assert found is not None
    assert list(found.super_user_names) == ["User:a", "User:b"]
    assert found.allow_everyone_if_no_acl_found


def test_rules_are_kept_where_all_else_is() -> None:
    same = {
        **AUTHORIZER,
        "authorizer.zookeeper.url": "h:2181/kafka",
        "authorizer.zookeeper.session.timeout.ms": "18000",
    }
    assert read_authorizer(read_broker_config(same), same) is not None
    for name, text in (
        ("authorizer.zookeeper.url", "other:2181"),
        ("authorizer.zookeeper.session.timeout.ms", "5"),
        ("authorizer.zookeeper.galaxy", "x"),
    ):
        texts = {**AUTHORIZER, name: text}
        with pytest.raises(InvalidConfig, match=name):
            read_authorizer(read_broker_config(texts), texts)


def test_without_an_authorizer_they_say_that_they_have_no_effect() -> None:
    (told,) = warnings({"super.users": "User:a"})
    assert told == "super.users has no effect: there is no authorizer.class.name"
    assert list(warnings({**AUTHORIZER, "super.users": "User:a"})) == []


@pytest.mark.parametrize("name", ["super.users", "allow.everyone.if.no.acl.found"])
@pytest.mark.parametrize("is_for_one_broker", [True, False])
def test_they_cannot_be_changed_while_the_broker_runs(name: str, is_for_one_broker: bool) -> None:
    """Kafka stores them, shows them, and goes on with the old ones."""
    changed = {name: "true"}
    layers = BrokerLayers(
        AUTHORIZER, {} if is_for_one_broker else changed, changed if is_for_one_broker else {}
    )
    with pytest.raises(InvalidConfig, match="Cannot update these configs dynamically"):
        check_broker_overrides(layers, is_for_one_broker=is_for_one_broker)
