"""The nodes of access rules: read one by one or all at once, and changed without losing any."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence

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
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.layout.roots import with_parents
from moldau.coordination.tree import (
    BadVersion,
    Create,
    Delete,
    NodeExists,
    NoNode,
    Operation,
    SetData,
    Tree,
)

_log = logging.getLogger(__name__)

Change = Callable[[list[AclEntry]], Sequence[AclEntry]]
"""Makes the new rules of a pattern out of those that there are."""

_TRIES = 10
_RETRY_S = 0.1
# Enough for a server that is far away, few enough for one that is busy.
_READ_TOGETHER = 64
_READ_PER_TURN = 100


class AclNodes:
    """Access rules in the tree, pattern by pattern."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def create_roots(self) -> None:
        """Make the nodes below which rules and their changes are kept."""
        for path in with_parents(ROOT_PATHS):
            if await self._tree.exists(path) is None:
                try:
                    await self._tree.create(Create(path))
                except NodeExists:
                    continue

    async def patterns(self) -> list[ResourcePattern]:
        """All patterns that there are rules for."""
        for name in set(await self._children(LITERAL_PATH)) - set(RESOURCE_TYPES):
            _log.warning("Ignored access rules of unknown type %r", name)
        return [
            ResourcePattern(kind, name, root == PREFIXED_PATH)
            for root in (LITERAL_PATH, PREFIXED_PATH)
            for kind in RESOURCE_TYPES
            for name in await self._children(f"{root}/{kind}")
        ]

    async def read(self, pattern: ResourcePattern) -> list[AclEntry]:
        """The rules of a pattern; NodeDataError if they cannot be read."""
        return (await self._read(pattern))[0]

    async def read_all(self) -> dict[ResourcePattern, list[AclEntry] | None]:
        """The rules of all patterns; None for those that cannot be read."""
        found: dict[ResourcePattern, list[AclEntry] | None] = {}
        waiting = iter(await self.patterns())
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(_READ_TOGETHER):
                    tasks.create_task(self._read_each(waiting, found))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return found

    async def _read_each(
        self,
        waiting: Iterator[ResourcePattern],
        found: dict[ResourcePattern, list[AclEntry] | None],
    ) -> None:
        for count, pattern in enumerate(waiting, 1):
            found[pattern] = await self.read_or_none(pattern)
            if count % _READ_PER_TURN == 0:
                await asyncio.sleep(0)  # a store in this process answers without a pause

    async def read_or_none(self, pattern: ResourcePattern) -> list[AclEntry] | None:
        """The rules of a pattern; None if they cannot be read, which is logged."""
        try:
            return await self.read(pattern)
        except NodeDataError as error:
            _log.error("Denying all access, unreadable access rules in %r: %s", pattern.path, error)
            return None

    async def change(self, pattern: ResourcePattern, change: Change) -> None:
        """Replace a pattern's rules by what `change` makes of them, and announce it.

        What others change at the same time is not overwritten; raises BadVersion if that
        happens again and again.
        """
        for _ in range(_TRIES):
            before, version = await self._read(pattern)
            after = list(dict.fromkeys(change(before)))
            if after == before:
                return
            try:
                await self._tree.multi([*_writing(pattern, after, version), _announcing(pattern)])
            except (BadVersion, NodeExists, NoNode):
                await asyncio.sleep(_RETRY_S)
            else:
                return
        raise BadVersion(pattern.path)

    async def _read(self, pattern: ResourcePattern) -> tuple[list[AclEntry], int | None]:
        """The rules, and the version of their node, None without one."""
        try:
            node = await self._tree.get(pattern.path)
        except NoNode:
            return [], None
        return decode_acls(node.data), node.stat.version

    async def _children(self, path: str) -> list[str]:
        try:
            return await self._tree.children(path)
        except NoNode:
            return []


def _writing(
    pattern: ResourcePattern, entries: Sequence[AclEntry], version: int | None
) -> Iterator[Operation]:
    if version is None:
        yield Create(pattern.path, encode_acls(entries))
    elif entries:
        yield SetData(pattern.path, encode_acls(entries), version)
    else:
        yield Delete(pattern.path, version)


def _announcing(pattern: ResourcePattern) -> Operation:
    return Create(pattern.change_prefix, encode_acl_change(pattern), is_sequential=True)
