"""Allowed operations as bits."""

from moldau.broker.access.audit import Audit
from moldau.broker.access.authorizer import AclAuthorizer, AllowEveryone
from moldau.broker.authorized import operations_of, operations_of_cluster
from moldau.broker.context import Client, Context
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.security.authorization import AccessRules
from moldau.security.principals import Principal

ALICE = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092, principal=Principal("User", "alice"))
ASKING = Context(9, "c", ALICE)


def bits(*operations: Operation) -> int:
    return sum(2**operation for operation in operations)


def authorizer(resource_type: ResourceType, *operations: Operation) -> AclAuthorizer:
    acls = [
        Acl(
            resource_type=resource_type,
            resource_name="kafka-cluster",
            principal="User:alice",
            operation=each,
        )
        for each in operations
    ]
    rules = AccessRules()
    rules.put(acls[0].pattern, acls)
    return AclAuthorizer(rules, Audit())


def test_without_rules_everything_that_there_is_to_do_is_allowed() -> None:
    everyone = AllowEveryone()
    assert operations_of(everyone, ASKING, ResourceType.GROUP, "g") == bits(
        Operation.READ, Operation.DELETE, Operation.DESCRIBE
    )
    # The numbers that Kafka 3.9 answers with when it has no authoriser.
    assert operations_of(everyone, ASKING, ResourceType.TOPIC, "t") == 3576
    assert operations_of_cluster(everyone, ASKING) == 8096


def test_rules_say_which_are_allowed() -> None:
    by_rules = authorizer(ResourceType.TOPIC, Operation.READ)
    found = operations_of(by_rules, ASKING, ResourceType.TOPIC, "kafka-cluster")
    assert found == bits(Operation.READ, Operation.DESCRIBE)
    assert operations_of(by_rules, ASKING, ResourceType.TOPIC, "other") == 0


def test_who_may_not_describe_the_cluster_is_told_nothing_of_it() -> None:
    assert operations_of_cluster(authorizer(ResourceType.CLUSTER, Operation.CREATE), ASKING) == 0
    by_rules = authorizer(ResourceType.CLUSTER, Operation.ALTER)
    assert operations_of_cluster(by_rules, ASKING) == bits(Operation.ALTER, Operation.DESCRIBE)
