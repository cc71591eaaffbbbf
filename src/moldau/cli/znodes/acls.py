"""Access rules as nodes of ZooKeeper: what `kafka-acls.sh` did before brokers could be asked."""

from collections.abc import Iterable, Iterator

from moldau.cli.terminal.access_options import (
    Pattern,
    by_pattern,
    is_sure,
    pattern_type,
    wanted_filters,
    wanted_rules,
)
from moldau.cli.terminal.options import Given
from moldau.cli.znodes.session import zookeeper_session
from moldau.coordination.acl_nodes import AclNodes
from moldau.coordination.layout.acls import RESOURCE_TYPES, AclEntry, ResourcePattern
from moldau.coordination.tree import Tree
from moldau.security.acls import (
    Acl,
    AclFilter,
    AclPattern,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)


async def change_or_list(servers: str, given: Given) -> None:
    """Add or remove rules if that is wanted, then print those that there are."""
    async with zookeeper_session(servers, given.text("zk-tls-config-file")) as tree:
        acls = ZooKeeperAcls(tree)
        filters = wanted_filters(given)
        if "add" in given:
            wanted = by_pattern(wanted_rules(given, pattern_type(given, PatternType.LITERAL)))
            for pattern, rules in wanted.items():
                print(f"Adding ACLs for resource `{shown(pattern)}`: \n{_lines(rules)}\n")
                await acls.add(pattern, rules)
        elif "remove" in given:
            kind = pattern_type(given, PatternType.LITERAL)
            await _remove(acls, by_pattern(wanted_rules(given, kind, is_removal=True)), given)
        principals = given.texts("principal")
        for pattern, rules in (await acls.matching(filters)).items():
            kept = [each for each in rules if not principals or each.principal in principals]
            if kept:
                print(f"Current ACLs for resource `{shown(pattern)}`: \n{_lines(kept)}\n")


async def _remove(acls: "ZooKeeperAcls", wanted: dict[Pattern, list[Acl]], given: Given) -> None:
    for pattern, rules in wanted.items():
        is_everything = any(each.permission is Permission.ANY for each in rules)
        what = (
            "Are you sure you want to delete all ACLs for resource filter "
            if is_everything
            else f"Are you sure you want to remove ACLs: \n{_lines(rules)}\n from resource filter "
        )
        if is_sure(given, f"{what}`{shown(pattern)}`? (y/n)"):
            await acls.remove(pattern, None if is_everything else rules)


class ZooKeeperAcls:
    """Reads and writes the nodes of access rules; brokers watch for changes."""

    def __init__(self, tree: Tree) -> None:
        self._nodes = AclNodes(tree)

    async def matching(self, filters: Iterable[AclFilter]) -> dict[Pattern, list[Acl]]:
        """The rules of every pattern that one of the filters means."""
        found: dict[Pattern, list[Acl]] = {}
        for node in sorted(await self._nodes.patterns(), key=_order):
            pattern = _pattern_of(node)
            if any(each.means(AclPattern(*pattern)) for each in filters):
                found[pattern] = [_rule(pattern, each) for each in await self._nodes.read(node)]
        return found

    async def add(self, pattern: Pattern, rules: Iterable[Acl]) -> None:
        """Add rules to those of a pattern."""
        await self._nodes.create_roots()
        added = [_entry(each) for each in rules]
        await self._nodes.change(_node_of(pattern), lambda before: [*before, *added])

    async def remove(self, pattern: Pattern, rules: Iterable[Acl] | None) -> None:
        """Remove rules of a pattern; all without any named."""
        removed = None if rules is None else {_entry(each) for each in rules}
        await self._nodes.change(
            _node_of(pattern),
            lambda before: [] if removed is None else [e for e in before if e not in removed],
        )


def _order(node: ResourcePattern) -> tuple[int, bool, str]:
    return RESOURCE_TYPES.index(node.type), node.is_prefix, node.name


def shown(pattern: Pattern) -> str:
    """A pattern as Kafka 2.x prints it."""
    kind, name, pattern_kind = pattern
    return f"{kind.label}:{pattern_kind.name}:{name}"


def _lines(rules: Iterable[Acl]) -> str:
    return f" {chr(10).join(_rule_lines(rules))} "


def _rule_lines(rules: Iterable[Acl]) -> Iterator[str]:
    for each in rules:
        yield (
            f"\t{each.principal} has {each.permission.label} permission for "
            f"operations: {each.operation.label} from hosts: {each.host}"
        )


def _entry(rule: Acl) -> AclEntry:
    return AclEntry(rule.principal, rule.permission.label, rule.operation.label, rule.host)


def _rule(pattern: Pattern, entry: AclEntry) -> Acl:
    kind, name, pattern_kind = pattern
    return Acl(
        resource_type=kind,
        resource_name=name,
        pattern_type=pattern_kind,
        principal=entry.principal,
        operation=next(each for each in Operation if each.label == entry.operation),
        permission=Permission[entry.permission.upper()],
        host=entry.host,
    )


def _pattern_of(node: ResourcePattern) -> Pattern:
    kind = next(each for each in ResourceType if each.label == node.type)
    return kind, node.name, PatternType.PREFIXED if node.is_prefix else PatternType.LITERAL


def _node_of(pattern: Pattern) -> ResourcePattern:
    kind, name, pattern_kind = pattern
    return ResourcePattern(kind.label, name, pattern_kind is PatternType.PREFIXED)
