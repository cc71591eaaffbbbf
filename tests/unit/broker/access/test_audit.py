"""Decisions as lines of a log."""

import logging

import pytest

from moldau.broker.access.audit import Audit, AuditedResource, printable
from moldau.security.acls import Operation, ResourceType
from moldau.security.authorization import Asker
from moldau.security.principals import Principal

LOGGER = "kafka.authorizer.logger"
BOB = Asker.of(Principal("User", "bob"), "::1")


def test_a_denial_reads_as_with_kafka(caplog: pytest.LogCaptureFixture) -> None:
    cluster = AuditedResource(ResourceType.CLUSTER, "kafka-cluster")
    with caplog.at_level(logging.INFO, LOGGER):
        Audit().note(BOB, Operation.ALTER, cluster, "CreateAcls", is_allowed=False)
        Audit().note(BOB, Operation.ALTER, cluster, "CreateAcls", is_allowed=True)
    (line,) = caplog.messages
    assert line == (
        "Principal = User:bob is Denied Operation = Alter from host = 0:0:0:0:0:0:0:1 on resource "
        "= Cluster:LITERAL:kafka-cluster for request = CreateAcls with resourceRefCount = 1"
    )


def test_what_is_allowed_is_told_to_those_who_debug(caplog: pytest.LogCaptureFixture) -> None:
    any_topic = AuditedResource.any_of(ResourceType.TOPIC)
    with caplog.at_level(logging.DEBUG, LOGGER):
        Audit().note(BOB, Operation.IDEMPOTENT_WRITE, any_topic, "InitProducerId", is_allowed=True)
    (line,) = caplog.messages
    assert line == (
        "Principal = User:bob is Allowed Operation = IdempotentWrite from host = 0:0:0:0:0:0:0:1 "
        "on resource = Topic:UNKNOWN:NONE for request = InitProducerId with resourceRefCount = 0"
    )


def test_names_make_up_no_lines_of_their_own(caplog: pytest.LogCaptureFixture) -> None:
    eve = Asker.of(Principal("User", "eve\nPrincipal = User:root"), "10.0.0.9")
    topic = AuditedResource(ResourceType.TOPIC, "t\r\n\0\x1b[31m")
    with caplog.at_level(logging.INFO, LOGGER):
        Audit().note(eve, Operation.READ, topic, "Fetch", is_allowed=False)
    (line,) = caplog.messages
    assert line.isprintable()
    assert r"User:eve\nPrincipal" in line
    assert r"Topic:LITERAL:t\r\n\x00\x1b[31m for" in line


def test_words_of_any_language_stay() -> None:
    assert printable("Přání ü 日本") == "Přání ü 日本"
