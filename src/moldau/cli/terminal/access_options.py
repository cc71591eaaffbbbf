"""Access rules by the options of kafka-acls.sh."""

import sys
from collections.abc import Iterable

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given
from moldau.security.acls import (
    CLUSTER_NAME,
    CONSUMER_NEEDS,
    PRODUCER_NEEDS,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

_RESOURCES = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
    "delegation-token": ResourceType.DELEGATION_TOKEN,
    "user-principal": ResourceType.USER,
}

Pattern = tuple[ResourceType, str, PatternType]


def wanted_rules(given: Given, kind: PatternType, *, is_removal: bool = False) -> list[Acl]:
    """The rules that the options stand for."""
    who = _principals(given, is_removal=is_removal)
    rules: list[Acl] = []
    for resource_type, name in _resources(given):
        for operation in _operations(given, resource_type):
            rules += [
                Acl(
                    resource_type=resource_type,
                    resource_name=name,
                    principal=principal,
                    operation=operation,
                    permission=permission,
                    host=host,
                    pattern_type=kind,
                )
                for principal, permission, host in who
            ]
    if not rules:
        raise CommandFailed(
            "You must specify one of: --allow-principal, --deny-principal when trying to add ACLs."
        )
    return rules


def _operations(given: Given, resource_type: ResourceType) -> list[Operation]:
    if "producer" in given or "consumer" in given:
        found: list[Operation] = []
        if "producer" in given:
            found += PRODUCER_NEEDS.get(resource_type, ())
        if "consumer" in given:
            found += CONSUMER_NEEDS.get(resource_type, ())
        return list(dict.fromkeys(found))
    return [_operation(text) for text in given.texts("operation") or ["All"]]


def _operation(text: str) -> Operation:
    names = {each.name.replace("_", ""): each for each in Operation if each is not Operation.ANY}
    found = names.get(text.upper().replace("_", ""))
    if found is None:
        raise CommandFailed(f"there is no operation {text}")
    return found


def _principals(given: Given, *, is_removal: bool) -> list[tuple[str, Permission, str]]:
    found: list[tuple[str, Permission, str]] = []
    for word, permission in (("allow", Permission.ALLOW), ("deny", Permission.DENY)):
        hosts = given.texts(f"{word}-host") or ["*"]
        for principal in given.texts(f"{word}-principal"):
            found += [(principal, permission, host) for host in hosts]
    if not found and is_removal:
        return [("", Permission.ANY, "")]
    return found


def _resources(given: Given) -> list[tuple[ResourceType, str]]:
    found = [(kind, name) for option, kind in _RESOURCES.items() for name in given.texts(option)]
    if "cluster" in given or "idempotent" in given:
        found.append((ResourceType.CLUSTER, CLUSTER_NAME))
    if not found:
        raise CommandFailed(
            "You must provide at least one resource: --topic <topic> or --cluster or --group "
            "<group> or --delegation-token <Delegation Token ID>"
        )
    return found


def pattern_type(given: Given, default: PatternType) -> PatternType:
    """How names stand for resources."""
    text = given.text("resource-pattern-type", default.name).upper()
    if text not in PatternType.__members__ or text == "UNKNOWN":
        raise CommandFailed(f"Invalid resource-pattern-type: {text.lower()}")
    return PatternType[text]


def wanted_filters(given: Given) -> list[AclFilter]:
    """What `--list` is to show: the rules of the resources that are named, or all."""
    kind = pattern_type(given, PatternType.ANY if "list" in given else PatternType.LITERAL)
    if not any(name in given for name in (*_RESOURCES, "cluster", "idempotent")):
        return [AclFilter(pattern_type=PatternType.ANY)]
    return [
        AclFilter(resource_type=each, resource_name=name, pattern_type=kind)
        for each, name in _resources(given)
    ]


def by_pattern(rules: Iterable[Acl]) -> dict[Pattern, list[Acl]]:
    """The rules of each pattern, in order."""
    found: dict[Pattern, list[Acl]] = {}
    for each in rules:
        key = (each.resource_type, each.resource_name, each.pattern_type)
        found.setdefault(key, []).append(each)
    return found


def is_sure(given: Given, question: str) -> bool:
    """Whether the user says yes, or has said so beforehand."""
    if "force" in given:
        return True
    print(question, flush=True)
    return sys.stdin.readline().strip().lower() == "y"
