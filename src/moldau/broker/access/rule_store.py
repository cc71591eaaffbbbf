"""Access rules in the tree, where all brokers and Kafka's tools change them, and here.

Every change leaves a notification, which all brokers watch; the broker that makes it applies it
at once and meets its own notification later.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from moldau.coordination.acl_nodes import AclNodes, Change
from moldau.coordination.layout.acls import (
    EXTENDED_CHANGES_PATH,
    LITERAL_CHANGES_PATH,
    AclEntry,
    ResourcePattern,
    decode_acl_change,
)
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.notifications import Notifications
from moldau.coordination.tree import BadVersion, SessionError, Tree, WatchEvent
from moldau.errors import ErrorCode, KafkaError
from moldau.security.acls import (
    Acl,
    AclPattern,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from moldau.security.authorization import AccessRules
from moldau.security.principals import Principal

_log = logging.getLogger(__name__)

_RETRY_S = 1.0
_TYPES = {each.label: each for each in ResourceType}
_OPERATIONS = {each.label: each for each in Operation if each > Operation.ANY}
_PERMISSIONS = {each.label: each for each in (Permission.ALLOW, Permission.DENY)}


class AccessRuleStore:
    """Keeps the rules here as they are in the tree."""

    def __init__(self, tree: Tree, rules: AccessRules) -> None:
        self.rules = rules
        self._nodes = AclNodes(tree)
        self._literal = Notifications(tree, LITERAL_CHANGES_PATH)
        self._extended = Notifications(tree, EXTENDED_CHANGES_PATH)
        self._is_news = asyncio.Event()
        self._is_complete = False
        # What is read is applied before anything else is read, or it could be the older.
        self._reading = asyncio.Lock()

    async def open(self) -> None:
        """Read all rules; before that, nobody may do anything."""
        await self._nodes.create_roots()
        # What is announced from now on is read once more.
        await self._literal.new()
        await self._extended.new()
        await self._load()

    async def run(self) -> None:
        """Follow the changes for as long as a session lasts, until cancelled.

        A new session has missed an unknown number of them: it begins with all rules.
        """
        try:
            while True:
                self._is_news.clear()
                try:
                    await self._follow()
                except SessionError as error:
                    _log.warning("Failed to read access rules, retrying: %s", error)
                    self._is_complete = False  # what was announced may not have been read
                    await asyncio.sleep(_RETRY_S)
                else:
                    await self._is_news.wait()
        finally:
            self._is_complete = False

    # Changing

    async def add(self, pattern: AclPattern, acls: Iterable[Acl]) -> None:
        """Give a pattern more rules; those that it has stay as they are."""
        added = [_entry(each) for each in acls]

        def with_added(before: list[AclEntry]) -> list[AclEntry]:
            _rules(pattern, before)  # what cannot be parsed stays as it is
            return [*before, *added]

        await self._change(pattern, with_added)

    async def remove(self, pattern: AclPattern, is_meant: Callable[[Acl], bool]) -> list[Acl]:
        """Take rules from a pattern; returns those that were there."""
        removed: list[Acl] = []

        def without(before: list[AclEntry]) -> list[AclEntry]:
            removed[:] = [each for each in _rules(pattern, before) if is_meant(each)]
            gone = {_entry(each) for each in removed}
            return [each for each in before if each not in gone]

        await self._change(pattern, without)
        return removed

    async def _change(self, pattern: AclPattern, change: Change) -> None:
        node = _node_of(pattern)
        try:
            await self._nodes.change(node, change)
        except (BadVersion, NodeDataError) as error:
            message = f"Failed to change the access rules of {pattern.name}: {error}"
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, message) from error
        await self._refresh(node)

    # Reading

    async def _load(self) -> None:
        async with self._reading:
            found = await self._nodes.read_all()
            self.rules.replace(
                (_pattern_of(node), _rules_or_none(node, entries))
                for node, entries in found.items()
            )
            self._is_complete = True

    async def _refresh(self, node: ResourcePattern) -> None:
        async with self._reading:
            entries = await self._nodes.read_or_none(node)
            self.rules.put(_pattern_of(node), _rules_or_none(node, entries))

    async def _follow(self) -> None:
        literal = await self._literal.new(watch=self._note_news)
        extended = await self._extended.new(watch=self._note_news)
        changed: dict[ResourcePattern, None] = {}
        try:
            for data in literal:
                changed[decode_acl_change(data, is_extended=False)] = None
            for data in extended:
                changed[decode_acl_change(data, is_extended=True)] = None
        except NodeDataError as error:
            _log.warning("Reading all access rules, for a notification is not readable: %s", error)
            self._is_complete = False
        if not self._is_complete:
            await self._load()
        else:
            for node in changed:
                await self._refresh(node)

    def _note_news(self, _event: WatchEvent) -> None:
        self._is_news.set()


def require_rules(store: AccessRuleStore | None, message: str) -> AccessRuleStore:
    """The rules, where there can be any; raises SECURITY_DISABLED."""
    if store is None:
        raise KafkaError(ErrorCode.SECURITY_DISABLED, message)
    return store


def _rules_or_none(node: ResourcePattern, entries: Iterable[AclEntry] | None) -> list[Acl] | None:
    """The rules, None if they are not readable or cannot be parsed."""
    if entries is None:
        return None
    try:
        return _rules(_pattern_of(node), entries)
    except NodeDataError as error:
        _log.error("Denying all access, unreadable access rules in %r: %s", node.path, error)
        return None


def _rules(pattern: AclPattern, entries: Iterable[AclEntry]) -> list[Acl]:
    try:
        return [_rule(pattern, each) for each in entries]
    except (KeyError, ValueError) as error:
        raise NodeDataError(f"unknown value: {error}") from error


def _rule(pattern: AclPattern, entry: AclEntry) -> Acl:
    Principal.parse(entry.principal)
    return Acl(
        resource_type=pattern.resource_type,
        resource_name=pattern.name,
        pattern_type=pattern.type,
        principal=entry.principal,
        operation=_OPERATIONS[entry.operation],
        permission=_PERMISSIONS[entry.permission],
        host=entry.host,
    )


def _entry(rule: Acl) -> AclEntry:
    return AclEntry(rule.principal, rule.permission.label, rule.operation.label, rule.host)


def _pattern_of(node: ResourcePattern) -> AclPattern:
    pattern_type = PatternType.PREFIXED if node.is_prefix else PatternType.LITERAL
    return AclPattern(_TYPES[node.type], node.name, pattern_type)


def _node_of(pattern: AclPattern) -> ResourcePattern:
    is_prefix = pattern.type is PatternType.PREFIXED
    return ResourcePattern(pattern.resource_type.label, pattern.name, is_prefix)
