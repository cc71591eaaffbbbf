"""Who may read a topic, as a client and as a broker."""

import logging
from collections.abc import Callable

import pytest

from moldau.broker.access.audit import Audit
from moldau.broker.access.authorizer import AclAuthorizer
from moldau.broker.requests.fetch_request import CONSUMER, ParsedFetch
from moldau.broker.requests.fetch_rights import denials_of, everything, nothing
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.security.authorization import AccessRules
from unit.broker.access_world import acl, client

MAY_READ = acl(Operation.READ, ResourceType.TOPIC, "t")
IS_A_BROKER = acl(Operation.CLUSTER_ACTION)


def denied_to_alice(*rules: Acl, replica_id: int = CONSUMER) -> Callable[[str], bool]:
    known = AccessRules()
    for rule in rules:
        known.put(rule.pattern, [rule])
    request = ParsedFetch(client("alice"), "c", 12, replica_id, 0, 0, 0, 0, 0, 0, {})
    return denials_of(AclAuthorizer(known, Audit()), request)


def test_a_consumer_reads_what_it_has_the_right_for() -> None:
    is_denied = denied_to_alice(MAY_READ)
    assert [is_denied("t"), is_denied("secret")] == [False, True]


@pytest.mark.parametrize("replica_id", [0, 2])
def test_a_broker_reads_everything_and_nobody_else_is_one(replica_id: int) -> None:
    assert denied_to_alice(IS_A_BROKER, replica_id=replica_id) is nothing
    assert denied_to_alice(MAY_READ, replica_id=replica_id) is everything
    assert [everything("t"), nothing("t")] == [True, False]


def test_a_denial_is_recorded_once_for_a_topic(caplog: pytest.LogCaptureFixture) -> None:
    is_denied = denied_to_alice()
    with caplog.at_level(logging.INFO, "kafka.authorizer.logger"):
        assert [is_denied("t"), is_denied("t"), is_denied("u")] == [True] * 3
    assert [record.getMessage().count("Denied") for record in caplog.records] == [1, 1]
