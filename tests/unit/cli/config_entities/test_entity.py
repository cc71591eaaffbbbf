"""Whose settings are meant."""

import pytest

from moldau.cli.config_entities.entity import Entity, entities_of
from moldau.cli.configs import OPTIONS
from moldau.cli.terminal.failure import CommandFailed


def entities(*options: str) -> list[Entity]:
    return entities_of(OPTIONS.parse(options))


def test_entities_are_named_in_two_ways() -> None:
    assert entities("--entity-type", "topics", "--entity-name", "a") == [Entity("topics", "a")]
    assert entities("--topic", "a") == [Entity("topics", "a")]
    assert entities("--entity-type", "topics") == [Entity("topics", None)]
    assert entities("--entity-type", "brokers", "--entity-default") == [Entity("brokers", "")]
    assert entities("--broker-defaults") == [Entity("brokers", "")]
    assert Entity("ips", "1").singular == "ip"


def test_a_user_and_its_client_go_together_in_that_order() -> None:
    assert entities("--client", "c", "--user", "u") == [
        Entity("users", "u"),
        Entity("clients", "c"),
    ]
    with pytest.raises(CommandFailed, match="Only a user and a client"):
        entities("--topic", "a", "--user", "u")


def test_a_type_is_needed_that_there_is() -> None:
    with pytest.raises(CommandFailed, match="At least one entity type must be specified"):
        entities()
    with pytest.raises(CommandFailed, match="Invalid entity type things"):
        entities("--entity-type", "things")
