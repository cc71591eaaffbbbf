"""Decides whether a client may do something: by access rules, or, without them, always.

Handlers ask before they look whether a thing exists, or errors would show what there is. What
each API asks for is listed in `requirements.py`.
"""

from dataclasses import dataclass, field
from logging import DEBUG
from typing import Protocol

from moldau.broker.access.audit import AUDIT_LOG, Audit, AuditedResource
from moldau.broker.context import Client
from moldau.errors import ErrorCode, KafkaError
from moldau.security.acls import CLUSTER_NAME, Operation, ResourceType
from moldau.security.authorization import AccessRules, Asker
from moldau.security.principals import Principal

DENIED = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceType.DELEGATION_TOKEN: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    ResourceType.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}
"""What a client gets that may not do something with a resource of a type."""
# A connection that names more things than these has them decided anew now and then.
DECISIONS_KEPT_MAX = 256

Question = tuple[Operation, ResourceType, str]


class Asking(Protocol):
    """Who asks for what: a Context, or what a fast path has instead."""

    @property
    def client(self) -> Client: ...

    @property
    def api_name(self) -> str: ...


@dataclass(slots=True)
class Rights:
    """What was decided about a client by one version of the rules."""

    principal: Principal
    version: object
    asker: Asker
    decisions: dict[Question, bool] = field(default_factory=dict)

    def keep(self, question: Question, *, is_allowed: bool) -> None:
        """Remember a decision, and not too many of them."""
        if len(self.decisions) >= DECISIONS_KEPT_MAX:
            self.decisions.clear()
        self.decisions[question] = is_allowed


class AllowEveryone:
    """No access rules: everyone may do everything."""

    is_enforcing = False
    """Whether there is anything to decide: where it counts, this is looked at before."""

    def may(
        self,
        asking: Asking,  # noqa: ARG002 - as that of the other has it
        operation: Operation,  # noqa: ARG002
        resource_type: ResourceType,  # noqa: ARG002
        name: str = CLUSTER_NAME,  # noqa: ARG002
        *,
        log: bool = True,  # noqa: ARG002
        count: int = 1,  # noqa: ARG002
    ) -> bool:
        """Yes."""
        return True

    def may_with_any(
        self,
        asking: Asking,  # noqa: ARG002
        operation: Operation,  # noqa: ARG002
        resource_type: ResourceType,  # noqa: ARG002
    ) -> bool:
        """Yes."""
        return True

    def require(
        self,
        asking: Asking,
        operation: Operation,
        resource_type: ResourceType = ResourceType.CLUSTER,
        name: str = CLUSTER_NAME,
    ) -> None:
        """Nothing is required."""


class AclAuthorizer:
    """Decides by access rules, keeps decisions with the client, and has them recorded."""

    is_enforcing = True

    def __init__(self, rules: AccessRules, audit: Audit) -> None:
        self.rules = rules
        self._audit = audit

    def may(
        self,
        asking: Asking,
        operation: Operation,
        resource_type: ResourceType,
        name: str = CLUSTER_NAME,
        *,
        log: bool = True,
        count: int = 1,
    ) -> bool:
        """Whether the client may do something with a resource, whether that exists or not.

        `log` is False for questions whose answer only filters; `count` is how often the request
        names the resource.
        """
        client = asking.client
        if client.is_this_broker:
            return True
        rights = client.rights
        rules = self.rules
        if (
            rights is None
            or rights.version is not rules.version
            or rights.principal is not client.principal
        ):
            rights = client.rights = self._rights_of(client)
        key = (operation, resource_type, name)
        is_allowed = rights.decisions.get(key)
        if is_allowed is None:
            is_allowed = rules.allow(rights.asker, operation, resource_type, name)
            rights.keep(key, is_allowed=is_allowed)
        if log and (not is_allowed or AUDIT_LOG.isEnabledFor(DEBUG)):
            resource = AuditedResource(resource_type, name, count)
            self._audit.note(
                rights.asker, operation, resource, asking.api_name, is_allowed=is_allowed
            )
        return is_allowed

    def may_with_any(
        self, asking: Asking, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Whether the client may do something with at least one resource of a type (KIP-679)."""
        client = asking.client
        if client.is_this_broker:
            return True
        asker = Asker.of(client.principal, client.host)
        is_allowed = self.rules.allow_any(asker, operation, resource_type)
        if not is_allowed or AUDIT_LOG.isEnabledFor(DEBUG):
            resource = AuditedResource.any_of(resource_type)
            self._audit.note(asker, operation, resource, asking.api_name, is_allowed=is_allowed)
        return is_allowed

    def require(
        self,
        asking: Asking,
        operation: Operation,
        resource_type: ResourceType = ResourceType.CLUSTER,
        name: str = CLUSTER_NAME,
    ) -> None:
        """Raise the error of a resource's type unless the client may do something with it."""
        if not self.may(asking, operation, resource_type, name):
            raise KafkaError(DENIED[resource_type])

    def _rights_of(self, client: Client) -> Rights:
        asker = Asker.of(client.principal, client.host)
        return Rights(client.principal, self.rules.version, asker)


Authorizer = AllowEveryone | AclAuthorizer
