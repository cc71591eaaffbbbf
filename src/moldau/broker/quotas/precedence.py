"""Which of the quotas that are set holds for a client, and with whom the client shares it.

The first of eight levels at which there is one decides (KIP-55):

    user and client id · user, any client id · user
    any user, client id · any user, any client id · any user
    client id · any client id

Where a level names both, each client of a user has the quota for itself; where it names the user
alone, all clients of that user share it; where it names the client id alone, all users do.
"""

from enum import Enum
from typing import NamedTuple

from moldau.coordination.layout.configs import ConfigEntity


class Unnamed(Enum):
    """What stands in the place of a name."""

    ANY = "any"
    """Clients without a quota of their own."""
    ABSENT = "absent"
    """The quota does not look at it."""


ANY, ABSENT = Unnamed.ANY, Unnamed.ABSENT
Name = str | Unnamed
Holder = tuple[Name, Name]
"""A user and a client id, one of which may be absent."""


class HeldQuota(NamedTuple):
    """A quota that holds for a client, and who shares it."""

    quota: float
    holder: Holder


class QuotaLevels:
    """The quotas of one type, as they are set."""

    def __init__(self) -> None:
        self._quotas: dict[Holder, float] = {}

    def __len__(self) -> int:
        return len(self._quotas)

    def put(self, entity: ConfigEntity, quota: float | None) -> bool:
        """Set, or take away, the quota of an entity; whether that changes anything."""
        key = _key(entity)
        if self._quotas.get(key) == quota:
            return False
        if quota is None:
            del self._quotas[key]
        else:
            self._quotas[key] = quota
        return True

    def find(self, user: str, client_id: str) -> HeldQuota | None:
        """What holds for a client of a user; None if nothing does."""
        both, of_user, of_client = (user, client_id), (user, ABSENT), (ABSENT, client_id)
        for key, holder in (
            ((user, client_id), both),
            ((user, ANY), both),
            ((user, ABSENT), of_user),
            ((ANY, client_id), both),
            ((ANY, ANY), both),
            ((ANY, ABSENT), of_user),
            ((ABSENT, client_id), of_client),
            ((ABSENT, ANY), of_client),
        ):
            quota = self._quotas.get(key)
            if quota is not None:
                return HeldQuota(quota, holder)
        return None


def _key(entity: ConfigEntity) -> Holder:
    if entity.has_client:
        return _named(entity.name), _named(entity.client)
    if entity.type == "users":
        return _named(entity.name), ABSENT
    return ABSENT, _named(entity.name)


def _named(name: str | None) -> Name:
    return ANY if name is None else name
