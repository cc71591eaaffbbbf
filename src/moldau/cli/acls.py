"""Show, add and remove access rules (kafka-acls.sh)."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence

from moldau.cli.terminal.access_options import (
    Pattern,
    by_pattern,
    is_sure,
    pattern_type,
    wanted_filters,
    wanted_rules,
)
from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.client_settings import read_pairs
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_CONTROLLER,
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    ZOOKEEPER_TLS,
    Given,
    Option,
    Options,
)
from moldau.client.admin.acls import AclsArea
from moldau.client.admin.connected import Connected
from moldau.errors import KafkaError
from moldau.security.acls import (
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
)

OPTIONS = Options(
    "acls",
    "Shows, adds and removes access rules.",
    BOOTSTRAP_SERVER,
    BOOTSTRAP_CONTROLLER,
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
    Option("allow-principal", "Principal that is allowed: User:alice.", "PRINCIPAL"),
    Option("deny-principal", "Principal that is denied.", "PRINCIPAL"),
    Option("principal", "Print the rules of these principals.", "PRINCIPAL"),
    Option("allow-host", "Hosts from which they may.", "HOST"),
    Option("deny-host", "Hosts from which they may not.", "HOST"),
    Option("operation", "Read, Write, Create, ...; default: All.", "OPERATION"),
    Option("producer", "The rules that a producer to the topic needs."),
    Option("consumer", "The rules that a consumer of the topic and group needs."),
    Option("idempotent", "The rules that an idempotent producer needs."),
    Option("force", "Do not ask before removing."),
    Option("authorizer", "Ignored, for old scripts.", "CLASS"),
    Option(
        "authorizer-properties",
        "As before 3.0: zookeeper.connect=SERVERS reads and writes ZooKeeper instead.",
        "KEY=VALUE",
    ),
    Option("zookeeper", "The same: read and write ZooKeeper instead.", "SERVERS"),
    ZOOKEEPER_TLS,
)


class AclAdmin(AclsArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.refuse_controller()
    actions = [name for name in _WORK if name in given]
    if len(actions) != 1:
        raise CommandFailed("Command must include exactly one action: --list, --add, --remove. ")
    servers = zookeeper_servers(given)
    if servers:
        return _run_with_zookeeper(given, servers)
    if "bootstrap-server" not in given:
        raise CommandFailed("One of --bootstrap-server or --bootstrap-controller must be specified")
    work = _WORK[actions[0]]
    try:
        run_admin(given, AclAdmin, lambda admin: work(admin, given))
    except KafkaError as error:
        print(f"Error while executing ACL command: {error}")
        return 1
    return 0


def zookeeper_servers(given: Given) -> str:
    """Where ZooKeeper is, if it is to be asked; empty if brokers are."""
    properties = read_pairs(given.texts("authorizer-properties"))
    return given.text("zookeeper") or properties.get("zookeeper.connect", "")


def _run_with_zookeeper(given: Given, servers: str) -> int:
    given.refuse_json("ZooKeeper")
    from moldau.cli.znodes.acls import change_or_list  # noqa: PLC0415 - seldom

    asyncio.run(change_or_list(servers, given))
    return 0


async def _list(admin: AclAdmin, given: Given) -> None:
    matching: dict[Acl, None] = {}
    for each in wanted_filters(given):
        matching |= dict.fromkeys(await admin.describe_acls(each))
    found = list(matching)
    principals = given.texts("principal")
    if given.is_json:
        shown = [each for each in found if not principals or each.principal in principals]
        print(json.dumps([_as_data(each) for each in shown]))
        return
    if not principals:
        _print_current(found)
        return
    for principal in principals:
        print(f"ACLs for principal `{principal}`")
        _print_current(each for each in found if each.principal == principal)


async def _add(admin: AclAdmin, given: Given) -> None:
    kind = pattern_type(given, PatternType.LITERAL)
    if kind in (PatternType.ANY, PatternType.MATCH):
        raise CommandFailed(f"A '--resource-pattern-type' value of '{kind.name}' is not valid here")
    wanted = wanted_rules(given, kind)
    _print_by_pattern("Adding ACLs for resource", wanted)
    (await admin.create_acls(wanted)).check()


async def _remove(admin: AclAdmin, given: Given) -> None:
    wanted = wanted_rules(given, pattern_type(given, PatternType.LITERAL), is_removal=True)
    for pattern, rules in by_pattern(wanted).items():
        question = (
            f"Are you sure you want to remove ACLs: \n{_lines(rules)}\n from resource filter "
        )
        if not is_sure(given, f"{question}`{_shown(pattern)}`? (y/n)"):
            continue
        filters = [_filter_of(each) for each in rules]
        (await admin.delete_acls(filters)).check()


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


def _print_current(rules: Iterable[Acl]) -> None:
    _print_by_pattern("Current ACLs for resource", rules)


def _print_by_pattern(words: str, rules: Iterable[Acl]) -> None:
    for pattern, found in by_pattern(rules).items():
        print(f"{words} `{_shown(pattern)}`: \n{_lines(found)}\n")


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
