"""Who may do what: four roles, each with all that the one before it may do, for topics or all."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.web.users import User


class Role(IntEnum):
    """What somebody may do; a greater one may do more."""

    VIEWER = 1
    """Names, numbers and settings."""
    READER = 2
    """Records as well."""
    OPERATOR = 3
    """Produce, and move the offsets of groups."""
    ADMIN = 4
    """Create, change and delete."""


ROLE_NAMES = tuple(role.name.lower() for role in Role)
ALL_TOPICS = "*"


def is_meant(topic: str, patterns: Iterable[str]) -> bool:
    """Whether one of these patterns, in which `*` stands for anything, means a topic."""
    return any(re.fullmatch(".*".join(map(re.escape, each.split("*"))), topic) for each in patterns)


@dataclass(frozen=True, slots=True)
class TopicGrant:
    """A role for some, on some topics."""

    who: tuple[str, ...]
    """Names, `group:` and a name, or `*` for everybody who is let in."""
    role: Role
    topics: tuple[str, ...] = (ALL_TOPICS,)

    def is_for(self, user: "User") -> bool:
        """Whether it is given to somebody."""
        return bool({user.name, ALL_TOPICS, *user.roles} & set(self.who))


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, and as what."""

    name: str
    role: Role
    """For all topics, and for what is no topic."""
    grants: tuple[tuple[tuple[str, ...], Role], ...] = ()
    """Further roles, by patterns of topics."""
    beside: Role | None = None
    """For what stands beside the cluster, such as Connect; as for the cluster if None."""

    @property
    def role_beside(self) -> Role:
        """What somebody is where the cluster has no say."""
        return self.role if self.beside is None else self.beside

    def role_on(self, topic: str) -> Role:
        """What somebody is on one topic."""
        roles = (role for patterns, role in self.grants if is_meant(topic, patterns))
        return max(self.role, *roles, self.role)


@dataclass(frozen=True, slots=True)
class ConsoleRights:
    """The rules of one console; the greatest role is that of requests without a name."""

    anonymous: Role = Role.ADMIN
    is_read_only: bool = False
    grants: tuple[TopicGrant, ...] = ()

    def actor(self, user: "User | None", *, is_ruled_by_cluster: bool = False) -> Actor:
        """Whom a request comes from; a user without a role may look, no more.

        A user with connections of their own is ruled by the cluster there, and by roles beside it.
        """
        if user is None:
            return Actor("anonymous", self._capped(self.anonymous))
        if is_ruled_by_cluster:
            here = self.actor(user)
            return Actor(user.name, self._capped(Role.ADMIN), here.grants, here.role)
        given = [each for each in self.grants if each.is_for(user)]
        roles = [Role[name.upper()] for name in user.roles if name in ROLE_NAMES]
        roles += [each.role for each in given if ALL_TOPICS in each.topics]
        partly = [each for each in given if ALL_TOPICS not in each.topics]
        return Actor(
            user.name,
            self._capped(max(roles, default=Role.VIEWER)),
            tuple((each.topics, self._capped(each.role)) for each in partly),
        )

    def _capped(self, role: Role) -> Role:
        return min(role, Role.READER) if self.is_read_only else role
