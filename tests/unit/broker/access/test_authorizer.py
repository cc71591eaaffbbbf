"""Decisions about clients: kept as long as they hold, and recorded."""

import logging

import pytest

from moldau.broker.access.audit import Audit
from moldau.broker.access.authorizer import DECISIONS_KEPT_MAX, AclAuthorizer, AllowEveryone
from moldau.broker.context import Client, Context
from moldau.errors import ErrorCode, KafkaError
from moldau.security.acls import Acl, AclPattern, Operation, ResourceType
from moldau.security.authorization import AccessRules
from moldau.security.principals import Principal

READ, TOPIC = Operation.READ, ResourceType.TOPIC
ALICE, BOB = Principal("User", "alice"), Principal("User", "bob")
T = AclPattern(TOPIC, "t")
MAY_READ = Acl(resource_type=TOPIC, resource_name="t", principal="User:alice", operation=READ)


def asking(principal: Principal = ALICE) -> Context:
    client = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092, principal=principal)
    return Context(3, "c", client, api_name="Fetch")


def authorizer(*acls: Acl) -> AclAuthorizer:
    rules = AccessRules()
    rules.put(T, acls)
    return AclAuthorizer(rules, Audit())


def test_without_rules_everyone_may_do_everything() -> None:
    everyone = AllowEveryone()
    assert not everyone.is_enforcing
    assert everyone.may(asking(), READ, TOPIC, "t", log=False, count=3)
    assert everyone.may_with_any(asking(), READ, TOPIC)
    everyone.require(asking(), Operation.ALTER)


def test_rules_decide() -> None:
    by_rules = authorizer(MAY_READ)
    assert by_rules.is_enforcing
    assert by_rules.may(asking(), READ, TOPIC, "t")
    assert not by_rules.may(asking(BOB), READ, TOPIC, "t")
    assert by_rules.may_with_any(asking(), READ, TOPIC)
    assert not by_rules.may_with_any(asking(BOB), READ, TOPIC)


@pytest.mark.parametrize(
    ("resource_type", "code"),
    [
        (ResourceType.TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
        (ResourceType.CLUSTER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (ResourceType.DELEGATION_TOKEN, ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED),
        (ResourceType.USER, ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED),
    ],
)
def test_each_type_of_resource_has_its_own_error(
    resource_type: ResourceType, code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refused:
        authorizer().require(asking(), READ, resource_type, "x")
    assert refused.value.code is code


def test_the_cluster_is_meant_unless_something_else_is() -> None:
    by_rules = authorizer()
    with pytest.raises(KafkaError) as refused:
        by_rules.require(asking(), Operation.ALTER)
    assert refused.value.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_a_broker_needs_no_rights_for_what_it_asks_itself() -> None:
    by_rules = authorizer()
    itself = Context(3, "broker", Client("", "", "", 0, is_this_broker=True))
    assert by_rules.may(itself, Operation.CLUSTER_ACTION, ResourceType.CLUSTER)
    assert by_rules.may_with_any(itself, READ, TOPIC)


def test_a_decision_is_kept_until_the_rules_change() -> None:
    by_rules, context = authorizer(MAY_READ), asking()
    assert by_rules.may(context, READ, TOPIC, "t")
    assert context.client.rights is not None
    assert context.client.rights.decisions == {(READ, TOPIC, "t"): True}
    by_rules.rules.put(T, [])
    assert not by_rules.may(context, READ, TOPIC, "t")
    by_rules.rules.put(T, [MAY_READ])
    assert by_rules.may(context, READ, TOPIC, "t")


def test_a_decision_holds_for_the_principal_that_it_was_made_for() -> None:
    by_rules, context = authorizer(MAY_READ), asking()
    assert by_rules.may(context, READ, TOPIC, "t")
    context.client.principal = BOB
    assert not by_rules.may(context, READ, TOPIC, "t")


def test_the_kept_decisions_are_bounded() -> None:
    by_rules, context = authorizer(), asking()
    for number in range(2 * DECISIONS_KEPT_MAX + 10):
        by_rules.may(context, READ, TOPIC, f"t{number}", log=False)
    assert context.client.rights is not None
    assert len(context.client.rights.decisions) <= DECISIONS_KEPT_MAX


def test_denials_are_recorded_each_time(caplog: pytest.LogCaptureFixture) -> None:
    by_rules, context = authorizer(MAY_READ), asking(BOB)
    with caplog.at_level(logging.INFO, "kafka.authorizer.logger"):
        for _ in range(2):
            by_rules.may(context, READ, TOPIC, "t", count=4)
        by_rules.may(context, READ, TOPIC, "t", log=False)
        by_rules.may(asking(), READ, TOPIC, "t")
    assert len(caplog.messages) == 2
    assert caplog.messages[0].endswith("request = Fetch with resourceRefCount = 4")


def test_what_is_allowed_is_recorded_for_those_who_debug(
    caplog: pytest.LogCaptureFixture,
) -> None:
    by_rules, context = authorizer(MAY_READ), asking()
    with caplog.at_level(logging.DEBUG, "kafka.authorizer.logger"):
        for _ in range(2):
            by_rules.may(context, READ, TOPIC, "t")
        by_rules.may(context, READ, TOPIC, "t", log=False)
        by_rules.may_with_any(context, READ, TOPIC)
    assert len(caplog.messages) == 3
    assert "Topic:UNKNOWN:NONE" in caplog.messages[2]
