"""Access rules as nodes of ZooKeeper: what `kafka-acls.sh` did before brokers could be asked."""

from collections.abc import Callable, Iterable, Iterator

from moldau.cli.terminal.access_options import (
    Pattern,
    by_pattern,
    is_sure,
    pattern_type,
    wanted_filters,
    wanted_rules,
)
from moldau.cli.terminal.options import Given
from moldau.cli.znodes.nodes import create_with_parents
from moldau.cli.znodes.session import zookeeper_session
from moldau.coordination.layout.acls import (
    LITERAL_PATH,
    PREFIXED_PATH,
    RESOURCE_TYPES,
    ROOT_PATHS,
    AclEntry,
    ResourcePattern,
    decode_acls,
    encode_acl_change,
    encode_acls,
)
from moldau.coordination.tree import BadVersion, Create, NodeExists, NoNode, Tree
from moldau.security.acls import (
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

_WILDCARD = "*"
Change = Callable[[list[AclEntry]], list[AclEntry]]


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
        self._tree = tree

    async def matching(self, filters: Iterable[AclFilter]) -> dict[Pattern, list[Acl]]:
        """The rules of every pattern that one of the filters means."""
        found: dict[Pattern, list[Acl]] = {}
        for kind in RESOURCE_TYPES:
            for root in (LITERAL_PATH, PREFIXED_PATH):
                is_prefix = root == PREFIXED_PATH
                for name in await self._children(f"{root}/{kind}"):
                    node = ResourcePattern(kind, name, is_prefix)
                    pattern = _pattern_of(node)
                    if any(is_meant(pattern, each) for each in filters):
                        _, entries = await self._read(node)
                        found[pattern] = [_rule(pattern, each) for each in entries]
        return found

    async def add(self, pattern: Pattern, rules: Iterable[Acl]) -> None:
        """Add rules to those of a pattern."""
        for path in ROOT_PATHS:
            await create_with_parents(self._tree, path)
        added = [_entry(each) for each in rules]
        await self._change(pattern, lambda before: [*before, *added])

    async def remove(self, pattern: Pattern, rules: Iterable[Acl] | None) -> None:
        """Remove rules of a pattern; all without any named."""
        removed = None if rules is None else {_entry(each) for each in rules}
        await self._change(
            pattern,
            lambda before: [] if removed is None else [e for e in before if e not in removed],
        )

    async def _change(self, pattern: Pattern, change: Change) -> None:
        """Replace a node's rules, again if another client was quicker, and notify the brokers."""
        node = _node_of(pattern)
        while True:
            version, before = await self._read(node)
            after = list(dict.fromkeys(change(before)))
            if after == before:
                return
            try:
                await self._write(node, version, after)
            except (BadVersion, NodeExists, NoNode):
                continue
            break
        told = Create(node.change_prefix, encode_acl_change(node), is_sequential=True)
        await self._tree.create(told)

    async def _write(
        self, node: ResourcePattern, version: int | None, entries: list[AclEntry]
    ) -> None:
        if version is None:
            await self._tree.create(Create(node.path, encode_acls(entries)))
        elif entries:
            await self._tree.set(node.path, encode_acls(entries), version=version)
        else:
            await self._tree.delete(node.path, version=version)

    async def _read(self, node: ResourcePattern) -> tuple[int | None, list[AclEntry]]:
        try:
            found = await self._tree.get(node.path)
        except NoNode:
            return None, []
        return found.stat.version, decode_acls(found.data)

    async def _children(self, path: str) -> list[str]:
        try:
            return sorted(await self._tree.children(path))
        except NoNode:
            return []


def is_meant(pattern: Pattern, wanted: AclFilter) -> bool:
    """Whether a filter means the rules of a pattern (KIP-290)."""
    kind, name, pattern_kind = pattern
    if wanted.resource_type not in (ResourceType.ANY, kind):
        return False
    if wanted.pattern_type is PatternType.MATCH and wanted.resource_name is not None:
        if pattern_kind is PatternType.PREFIXED:
            return wanted.resource_name.startswith(name)
        return name in (wanted.resource_name, _WILDCARD)
    is_kind = wanted.pattern_type in (PatternType.ANY, PatternType.MATCH, pattern_kind)
    return is_kind and wanted.resource_name in (None, name)


def shown(pattern: Pattern) -> str:
    """A pattern as Kafka 2.x prints it."""
    kind, name, pattern_kind = pattern
    return f"{_camel_case(kind.name)}:{pattern_kind.name}:{name}"


def _lines(rules: Iterable[Acl]) -> str:
    return f" {chr(10).join(_rule_lines(rules))} "


def _rule_lines(rules: Iterable[Acl]) -> Iterator[str]:
    for each in rules:
        yield (
            f"\t{each.principal} has {_camel_case(each.permission.name)} permission for "
            f"operations: {_camel_case(each.operation.name)} from hosts: {each.host}"
        )


def _entry(rule: Acl) -> AclEntry:
    permission, operation = (_camel_case(each.name) for each in (rule.permission, rule.operation))
    return AclEntry(rule.principal, permission, operation, rule.host)


def _rule(pattern: Pattern, entry: AclEntry) -> Acl:
    kind, name, pattern_kind = pattern
    return Acl(
        resource_type=kind,
        resource_name=name,
        pattern_type=pattern_kind,
        principal=entry.principal,
        operation=next(each for each in Operation if _camel_case(each.name) == entry.operation),
        permission=Permission[entry.permission.upper()],
        host=entry.host,
    )


def _pattern_of(node: ResourcePattern) -> Pattern:
    kind = next(each for each in ResourceType if _camel_case(each.name) == node.type)
    return kind, node.name, PatternType.PREFIXED if node.is_prefix else PatternType.LITERAL


def _node_of(pattern: Pattern) -> ResourcePattern:
    kind, name, pattern_kind = pattern
    return ResourcePattern(_camel_case(kind.name), name, pattern_kind is PatternType.PREFIXED)


def _camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
