"""Show, add and remove access rules (kafka-acls.sh)."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Option,
    Options,
)
from moldau.client.admin.acls import Acls
from moldau.client.admin.connected import Connected
from moldau.errors import KafkaError
from moldau.security.acls import (
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
_CLUSTER_NAME = "kafka-cluster"
Pattern = tuple[ResourceType, str, PatternType]

OPTIONS = Options(
    "acls",
    "Shows, adds and removes access rules.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("list", "Print rules."),
    Option("add", "Add rules."),
    Option("remove", "Remove rules."),
    Option("topic", "A topic.", "TOPIC"),
    Option("group", "A group.", "GROUP"),
    Option("cluster", "The cluster."),
    Option("transactional-id", "A transactional id.", "ID"),
    Option("delegation-token", "A delegation token.", "ID"),
    Option("user-principal", "A user as a resource.", "USER"),
    Option("resource-pattern-type", "literal, prefixed, any or match.", "TYPE"),
    Option("allow-principal", "Who may: User:alice.", "PRINCIPAL"),
    Option("deny-principal", "Who may not.", "PRINCIPAL"),
    Option("principal", "Print the rules of these.", "PRINCIPAL"),
    Option("allow-host", "From where those may.", "HOST"),
    Option("deny-host", "From where those may not.", "HOST"),
    Option("operation", "What: Read, Write, Create, ...; All without it.", "OPERATION"),
    Option("producer", "What a producer to the topic needs."),
    Option("consumer", "What a consumer of the topic and group needs."),
    Option("idempotent", "What an idempotent producer needs."),
    Option("force", "Do not ask before removing."),
    Option("authorizer", "For old scripts: brokers are asked.", "CLASS"),
    Option("authorizer-properties", "For old scripts: brokers are asked.", "KEY=VALUE"),
)


class AclAdmin(Acls, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    actions = [name for name in _WORK if name in given]
    if len(actions) != 1:
        raise CommandFailed("Command must include exactly one action: --list, --add, --remove. ")
    if "bootstrap-server" not in given:
        raise CommandFailed("One of --bootstrap-server or --bootstrap-controller must be specified")
    work = _WORK[actions[0]]
    try:
        run_admin(given, AclAdmin, lambda admin: work(admin, given))
    except KafkaError as error:
        print(f"Error while executing ACL command: {error}")
        return 1
    return 0


async def _list(admin: AclAdmin, given: Given) -> None:
    found = await _matching(admin, given)
    principals = given.texts("principal")
    if given.is_json:
        print(json.dumps([_as_data(each) for each in found]))
        return
    if not principals:
        _print_current(found)
        return
    for principal in principals:
        print(f"ACLs for principal `{principal}`")
        _print_current(each for each in found if each.principal == principal)


async def _add(admin: AclAdmin, given: Given) -> None:
    kind = _pattern_type(given, PatternType.LITERAL)
    if kind in (PatternType.ANY, PatternType.MATCH):
        raise CommandFailed(f"A '--resource-pattern-type' value of '{kind.name}' is not valid here")
    wanted = wanted_rules(given, kind)
    _print_by_pattern("Adding ACLs for resource", wanted)
    (await admin.create_acls(wanted)).check()


async def _remove(admin: AclAdmin, given: Given) -> None:
    wanted = wanted_rules(given, _pattern_type(given, PatternType.LITERAL), is_removal=True)
    for pattern, rules in _by_pattern(wanted).items():
        question = (
            f"Are you sure you want to remove ACLs: \n{_lines(rules)}\n from resource filter "
        )
        if not _is_sure(given, f"{question}`{_shown(pattern)}`? (y/n)"):
            continue
        filters = [_filter_of(each) for each in rules]
        (await admin.delete_acls(filters)).check()


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
            found += _PRODUCER.get(resource_type, [])
        if "consumer" in given:
            found += _CONSUMER.get(resource_type, [])
        return list(dict.fromkeys(found))
    return [_operation(text) for text in given.texts("operation") or ["All"]]


_PRODUCER = {
    ResourceType.TOPIC: [Operation.WRITE, Operation.DESCRIBE, Operation.CREATE],
    ResourceType.TRANSACTIONAL_ID: [Operation.WRITE, Operation.DESCRIBE],
    ResourceType.CLUSTER: [Operation.IDEMPOTENT_WRITE],
}
_CONSUMER = {
    ResourceType.TOPIC: [Operation.READ, Operation.DESCRIBE],
    ResourceType.GROUP: [Operation.READ],
}


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
        found.append((ResourceType.CLUSTER, _CLUSTER_NAME))
    if not found:
        raise CommandFailed(
            "You must provide at least one resource: --topic <topic> or --cluster or --group "
            "<group> or --delegation-token <Delegation Token ID>"
        )
    return found


def _pattern_type(given: Given, default: PatternType) -> PatternType:
    text = given.text("resource-pattern-type", default.name).upper()
    if text not in PatternType.__members__ or text == "UNKNOWN":
        raise CommandFailed(f"Invalid resource-pattern-type: {text.lower()}")
    return PatternType[text]


async def _matching(admin: AclAdmin, given: Given) -> list[Acl]:
    kind = _pattern_type(given, PatternType.ANY if "list" in given else PatternType.LITERAL)
    has_resources = any(name in given for name in (*_RESOURCES, "cluster", "idempotent"))
    filters = [AclFilter(pattern_type=PatternType.ANY)]
    if has_resources:
        filters = [
            AclFilter(resource_type=each, resource_name=name, pattern_type=kind)
            for each, name in _resources(given)
        ]
    found: dict[Acl, None] = {}
    for each in filters:
        found |= dict.fromkeys(await admin.describe_acls(each))
    return list(found)


def _filter_of(rule: Acl) -> AclFilter:
    is_anybody = rule.permission is Permission.ANY
    return AclFilter(
        resource_type=rule.resource_type,
        resource_name=rule.resource_name,
        pattern_type=rule.pattern_type,
        principal=None if is_anybody else rule.principal,
        host=None if is_anybody else rule.host,
        operation=Operation.ANY if is_anybody else rule.operation,
        permission=rule.permission,
    )


def _is_sure(given: Given, question: str) -> bool:
    if "force" in given:
        return True
    print(question, flush=True)
    return sys.stdin.readline().strip().lower() == "y"


def _print_current(rules: Iterable[Acl]) -> None:
    _print_by_pattern("Current ACLs for resource", rules)


def _print_by_pattern(words: str, rules: Iterable[Acl]) -> None:
    for pattern, found in _by_pattern(rules).items():
        print(f"{words} `{_shown(pattern)}`: \n{_lines(found)}\n")


def _by_pattern(rules: Iterable[Acl]) -> dict[Pattern, list[Acl]]:
    found: dict[Pattern, list[Acl]] = {}
    for each in rules:
        key = (each.resource_type, each.resource_name, each.pattern_type)
        found.setdefault(key, []).append(each)
    return found


def _shown(pattern: Pattern) -> str:
    kind, name, pattern_type = pattern
    return (
        f"ResourcePattern(resourceType={kind.name}, name={name}, patternType={pattern_type.name})"
    )


def _lines(rules: Iterable[Acl]) -> str:
    shown = "\n".join(
        f"\t(principal={each.principal}, host={each.host}, operation={each.operation.name}, "
        f"permissionType={each.permission.name})"
        for each in rules
    )
    return f" {shown} "


def _as_data(rule: Acl) -> dict[str, object]:
    return {
        "resource_type": rule.resource_type.name,
        "resource_name": rule.resource_name,
        "pattern_type": rule.pattern_type.name,
        "principal": rule.principal,
        "host": rule.host,
        "operation": rule.operation.name,
        "permission": rule.permission.name,
    }


_WORK: dict[str, Callable[[AclAdmin, Given], Awaitable[None]]] = {
    "list": _list,
    "add": _add,
    "remove": _remove,
}
