"""The record of decisions: lines in a log, in Kafka's form; denials in a topic as well."""

import logging
from typing import NamedTuple, Self

from moldau.broker.access.audit_topic import AuditTopic
from moldau.security.acls import Operation, ResourceType
from moldau.security.authorization import Asker

AUDIT_LOG = logging.getLogger("kafka.authorizer.logger")
"""Denied requests are logged at INFO, allowed ones at DEBUG."""


class AuditedResource(NamedTuple):
    """What someone asked for, and how often the request names it."""

    type: ResourceType
    name: str
    times: int = 1
    pattern: str = "LITERAL"

    @classmethod
    def any_of(cls, resource_type: ResourceType) -> Self:
        """Where one resource of a type is enough; written as Kafka does."""
        return cls(resource_type, "NONE", 0, "UNKNOWN")

    def __str__(self) -> str:
        return f"{self.type.label}:{self.pattern}:{printable(self.name)}"


class Audit:
    """Writes decisions down."""

    def __init__(self, topic: AuditTopic | None = None) -> None:
        self._topic = topic

    def note(
        self,
        asker: Asker,
        operation: Operation,
        resource: AuditedResource,
        api_name: str,
        *,
        is_allowed: bool,
    ) -> None:
        """Write one down; whether it is worth a line has been decided."""
        AUDIT_LOG.log(
            logging.DEBUG if is_allowed else logging.INFO,
            "Principal = %s is %s Operation = %s from host = %s on resource = %s "
            "for request = %s with resourceRefCount = %d",
            printable(asker.name),
            "Allowed" if is_allowed else "Denied",
            operation.label,
            asker.address,
            resource,
            api_name,
            resource.times,
        )
        if self._topic is not None and not is_allowed:
            self._record(self._topic, asker, operation, resource, api_name)

    def _record(
        self,
        topic: AuditTopic,
        asker: Asker,
        operation: Operation,
        resource: AuditedResource,
        api_name: str,
    ) -> None:
        if operation is Operation.WRITE and resource.name == topic.name:
            return  # perhaps of a broker that tries to record something: there would be no end
        topic.add(
            asker.name,
            {
                "host": asker.address,
                "operation": operation.label,
                "resource_type": resource.type.label,
                "pattern_type": resource.pattern,
                "resource_name": resource.name,
                "api": api_name,
                "count": resource.times,
            },
        )


def printable(text: str) -> str:
    """Text of clients in one line: it cannot make up lines of its own."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
