"""Who may do what: four roles, each with all that the one before it may do."""

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


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, and as what."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class ConsoleRights:
    """The rules of one console; the greatest role is that of requests without a name."""

    anonymous: Role = Role.ADMIN
    is_read_only: bool = False

    def actor(self, user: "User | None") -> Actor:
        """Whom a request comes from; a user without a role may look, no more."""
        if user is None:
            return Actor("anonymous", self._capped(self.anonymous))
        roles = [Role[name.upper()] for name in user.roles if name in ROLE_NAMES]
        return Actor(user.name, self._capped(max(roles, default=Role.VIEWER)))

    def _capped(self, role: Role) -> Role:
        return min(role, Role.READER) if self.is_read_only else role
