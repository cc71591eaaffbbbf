"""Access rules of requests; how they are refused is in the tests of the handlers."""

import pytest

from moldau.broker.access.rule_messages import acl_of, require_storable
from moldau.errors import KafkaError
from moldau.protocol.messages.create_acls import AclCreation
from moldau.security.acls import Operation, ResourceType
from unit.broker.access_world import acl


def test_a_rule_is_read() -> None:
    creation = AclCreation(
        resource_type=3,
        resource_name="g",
        resource_pattern_type=3,
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    )
    assert acl_of(creation) == acl(Operation.READ, ResourceType.GROUP, "g")


@pytest.mark.parametrize("name", ["a.b", "...", "Přání", "a b", "a:b", "*"])
def test_most_names_can_be_those_of_nodes(name: str) -> None:
    require_storable(acl(Operation.READ, ResourceType.GROUP, name))


@pytest.mark.parametrize("name", ["a/b", "/", ".", "\x7f", "\x1f", "\ud800"])
def test_some_names_cannot(name: str) -> None:
    with pytest.raises(KafkaError, match="Failed to create ACL"):
        require_storable(acl(Operation.READ, ResourceType.GROUP, name))
