"""Addresses as Java writes them: access rules name hosts in this form."""

from ipaddress import IPv6Address, ip_address

ANY_HOST = "*"


def java_address(text: str) -> str:
    """An address as `InetAddress.getHostAddress` writes it; other text stays as it is.

    IPv6 is written in full, without leading zeros, with its scope; IPv4 inside IPv6 as IPv4.
    Two texts for the same address come to the same, so that they can be compared.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    packed = address.packed
    groups = [int.from_bytes(packed[start : start + 2], "big") for start in range(0, 16, 2)]
    scope = f"%{address.scope_id}" if address.scope_id else ""
    return ":".join(f"{group:x}" for group in groups) + scope


def is_host(text: str) -> bool:
    """Whether a rule for this host can fit anybody: names and networks do not."""
    if text == ANY_HOST:
        return True
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
