"""Where brokers are: `host:port`, as users and metadata write it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from moldau.config.values import invalid

_NAME = "bootstrap.servers"
# The protocol in front is what Kafka's listeners have; clients tolerate it.
_ADDRESS = re.compile(r"(?:\w+://)?(?:\[([0-9a-fA-F:.%\w]+)\]|([^\[\]:,\s]+)):(\d{1,5})")
PORT_MAX = 65_535


class Address(NamedTuple):
    """Host and port; a host may stand for several addresses of the network."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(servers: str | Iterable[str]) -> tuple[Address, ...]:
    """The addresses in a list with commas, or in a sequence; InvalidConfig if there are none."""
    texts = servers.split(",") if isinstance(servers, str) else list(servers)
    addresses = tuple(_parse(text.strip()) for text in texts if text.strip())
    if not addresses:
        raise invalid(_NAME, repr(servers), "host:port, or several with commas between")
    return addresses


def _parse(text: str) -> Address:
    match = _ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match[3]) <= PORT_MAX:
        raise invalid(_NAME, repr(text), "host:port, with [brackets] around an IPv6 address")
    return Address(match[1] or match[2], int(match[3]))
