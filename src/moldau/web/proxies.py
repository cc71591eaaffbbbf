"""A proxy in front that has checked who somebody is, and says so in a header."""

import ipaddress
from collections.abc import Iterable

from starlette.requests import Request

from moldau.web.users import User

GROUP = "group:"
"""Before the names of groups, so that none of them is taken for a role."""
_NAME_MAX = 200
_GROUPS_MAX = 500


class TrustedProxy:
    """Believes headers of requests from these addresses, and of no others."""

    def __init__(
        self,
        addresses: Iterable[str],
        *,
        user_header: str = "x-forwarded-user",
        groups_header: str = "x-forwarded-groups",
    ) -> None:
        self._networks = [ipaddress.ip_network(each) for each in addresses]
        self._user_header = user_header.lower()
        self._groups_header = groups_header.lower()

    def recognise(self, request: Request) -> User | None:
        """Whom the proxy vouches for; None if it is another that asks, or names nobody."""
        if request.client is None or not self._is_trusted(request.client.host):
            return None
        given = request.headers.getlist(self._user_header)
        if len(given) != 1:  # two are none: somebody has added one
            return None
        name = given[0].strip()
        if not 0 < len(name) <= _NAME_MAX or not name.isprintable():
            return None
        groups = ",".join(request.headers.getlist(self._groups_header)).split(",")
        return User(name, roles=groups_of(each.strip() for each in groups))

    def _is_trusted(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self._networks)


def groups_of(names: Iterable[object]) -> tuple[str, ...]:
    """Groups as roles of a user; only so many, and only texts."""
    found = [f"{GROUP}{each}" for each in names if isinstance(each, str) and each]
    return tuple(found[:_GROUPS_MAX])
