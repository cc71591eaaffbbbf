"""Access rules: listed, planned, added and removed."""

from collections.abc import Collection, Iterable
from enum import IntEnum
from typing import TypeVar

from moldau.console.access import Role
from moldau.console.bodies import Sent, choice_of, objects_of, text_of
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.security.acls import (
    CLUSTER_NAME,
    CONSUMER_NEEDS,
    OPERATIONS,
    PRODUCER_NEEDS,
    WILDCARD,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from moldau.web.errors import WebError

_ACLS = f"{PREFIX}/acls"
_PATTERNS = {each.name.lower(): each for each in (PatternType.LITERAL, PatternType.PREFIXED)}
_PERMISSIONS = {each.name.lower(): each for each in (Permission.ALLOW, Permission.DENY)}
_TYPES = {each.name.lower(): each for each in OPERATIONS}
_OPERATIONS = {each.name.lower(): each for each in Operation if each > Operation.ANY}
_NEEDS = {"producer": PRODUCER_NEEDS, "consumer": CONSUMER_NEEDS}
_NAMED_BY = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.TRANSACTIONAL_ID: "transactional_id",
}
_PREFIX_OF_USERS = "User:"

Word = TypeVar("Word", bound=IntEnum)


async def acls(call: ApiCall) -> object:
    """The rules that match; `pattern=match` finds all that are about a name."""
    patterns = {**_PATTERNS, "match": PatternType.MATCH}
    wanted = AclFilter(
        resource_type=_asked(call, "type", _TYPES) or ResourceType.ANY,
        resource_name=call.text("name") or None,
        principal=call.text("principal") or None,
        operation=_asked(call, "operation", _OPERATIONS) or Operation.ANY,
        permission=_asked(call, "permission", _PERMISSIONS) or Permission.ANY,
        host=call.text("host") or None,
        pattern_type=_asked(call, "pattern", patterns) or PatternType.ANY,
    )
    found = await (await call.admin()).describe_acls(wanted)
    return {"acls": [as_data(each) for each in sorted(found, key=_order)]}


def _asked(call: ApiCall, name: str, known: dict[str, Word]) -> Word | None:
    given = call.text(name).lower()
    if given and given not in known:
        raise WebError(400, f"{name}={given} is none of {', '.join(known)}")
    return known.get(given)


def _order(rule: Acl) -> tuple[object, ...]:
    return rule.resource_type, rule.resource_name, rule.principal, rule.operation, rule.host


def as_data(rule: Acl) -> dict[str, object]:
    """A rule as it is sent and shown."""
    return {
        "type": rule.resource_type.name.lower(),
        "name": rule.resource_name,
        "pattern": rule.pattern_type.name.lower(),
        "principal": rule.principal,
        "host": rule.host,
        "operation": rule.operation.name.lower(),
        "permission": rule.permission.name.lower(),
    }


def acl_of(sent: Sent) -> Acl:
    """The rule that fields name."""
    kind = _TYPES[choice_of(sent, "type", _TYPES)]
    operation = _OPERATIONS[choice_of(sent, "operation", _OPERATIONS)]
    if operation is not Operation.ALL and operation not in OPERATIONS[kind]:
        known = ", ".join(each.name.lower() for each in OPERATIONS[kind])
        raise WebError(400, f"operation: a {kind.name.lower()} knows all, {known}")
    name = text_of(sent, "name", CLUSTER_NAME if kind is ResourceType.CLUSTER else None)
    return Acl(
        resource_type=kind,
        resource_name=name,
        principal=_principal(sent),
        operation=operation,
        permission=_PERMISSIONS[choice_of(sent, "permission", _PERMISSIONS, "allow")],
        host=text_of(sent, "host", WILDCARD),
        pattern_type=_PATTERNS[choice_of(sent, "pattern", _PATTERNS, "literal")],
    )


def _principal(sent: Sent) -> str:
    found = text_of(sent, "principal")
    if not found.startswith(_PREFIX_OF_USERS) or found == _PREFIX_OF_USERS:
        raise WebError(400, "principal: User: and a name, or User:* for everybody")
    return found


def needed(sent: Sent) -> list[Acl]:
    """What a producer or a consumer needs, as kafka-acls.sh --producer or --consumer adds."""
    found: list[Acl] = []
    for kind, operations in _NEEDS[choice_of(sent, "for", _NEEDS)].items():
        if kind is ResourceType.CLUSTER:
            continue  # since Kafka 3.0 a producer needs no rule of the cluster to be idempotent
        field = _NAMED_BY[kind]
        if sent.get(field) in (None, "") and kind is ResourceType.TRANSACTIONAL_ID:
            continue
        for operation in operations:
            words = {"type": kind.name, "name": text_of(sent, field), "operation": operation.name}
            found.append(acl_of({**sent, **words, "permission": "allow"}))
    return found


async def plan(call: ApiCall) -> object:
    """What adding or removing rules would do; nothing is changed."""
    sent = await call.body()
    is_removal = choice_of(sent, "action", ("add", "remove"), "add") == "remove"
    if "for" in sent:
        wanted = needed(sent)
    else:
        wanted = list(dict.fromkeys(acl_of(each) for each in objects_of(sent, "acls")))
    existing = await (await call.admin()).describe_acls()
    rows = [{**as_data(each), "exists": each in existing} for each in wanted]
    notes = removal_notes(existing, wanted) if is_removal else addition_notes(existing, wanted)
    return {"acls": rows, "notes": notes}


def addition_notes(existing: Collection[Acl], added: Iterable[Acl]) -> list[str]:
    """What others notice when rules are added."""
    notes: dict[str, None] = {}
    for each in added:
        if not any(other.pattern == each.pattern for other in existing):
            notes[
                f"These are the first rules of {_about(each)}. Where "
                "allow.everyone.if.no.acl.found is true, everybody who has no rule loses access."
            ] = None
        if each.permission is Permission.DENY:
            notes["A deny rule wins over every allow rule."] = None
    return list(notes)


def removal_notes(existing: Collection[Acl], removed: Collection[Acl]) -> list[str]:
    """What others notice when rules are gone."""
    notes: dict[str, None] = {}
    left = [each for each in existing if each not in removed]
    for each in removed:
        if not any(other.pattern == each.pattern for other in left):
            notes[
                f"No rule of {_about(each)} is left. Where allow.everyone.if.no.acl.found is "
                "true, everybody has access then; otherwise super users alone."
            ] = None
        if each.permission is Permission.DENY:
            notes["Without the deny rule, allow rules count again."] = None
    return list(notes)


def _about(rule: Acl) -> str:
    prefix = "names that begin with " if rule.pattern_type is PatternType.PREFIXED else ""
    return f"{rule.resource_type.name.lower().replace('_', ' ')} {prefix}{rule.resource_name}"


async def create(call: ApiCall) -> object:
    """Add the rules that a plan has shown."""
    wanted = [acl_of(each) for each in objects_of(await call.body(), "acls")]
    (await (await call.admin()).create_acls(wanted)).check()
    return {"created": len(set(wanted))}


async def delete(call: ApiCall) -> object:
    """Remove exactly these rules, and no others that a pattern might mean."""
    wanted = [acl_of(each) for each in objects_of(await call.body(), "acls")]
    removed = await (await call.admin()).delete_acls(_exactly(each) for each in wanted)
    removed.check()
    return {"deleted": sum(len(found) for found in removed.values())}


def _exactly(rule: Acl) -> AclFilter:
    return AclFilter(
        resource_type=rule.resource_type,
        resource_name=rule.resource_name,
        principal=rule.principal,
        operation=rule.operation,
        permission=rule.permission,
        host=rule.host,
        pattern_type=rule.pattern_type,
    )


_RULES = {"acls": "rules: type, name, pattern, principal, host, operation, permission"}
ENDPOINTS = (
    ApiEndpoint(
        "GET",
        _ACLS,
        Role.OPERATOR,
        "Access rules",
        acls,
        query={
            "type": ", ".join(_TYPES),
            "name": "the name in the rule",
            "pattern": "literal, prefixed, or match: all rules about the name",
            "principal": "User:anna",
            "operation": ", ".join(_OPERATIONS),
            "permission": "allow or deny",
            "host": "an address",
        },
    ),
    ApiEndpoint(
        "POST",
        f"{_ACLS}/plan",
        Role.OPERATOR,
        "What adding or removing rules would do",
        plan,
        body={
            **_RULES,
            "action": "add or remove",
            "for": "producer or consumer, in place of rules: what these need",
            "topic": "with `for`: the topic",
            "group": "with `for` consumer: the group",
            "transactional_id": "with `for` producer: the id, if it has transactions",
        },
    ),
    ApiEndpoint("POST", _ACLS, Role.ADMIN, "Add rules", create, body=_RULES),
    ApiEndpoint("DELETE", _ACLS, Role.ADMIN, "Remove exactly these rules", delete, body=_RULES),
)
