"""What `--advertised-host` makes of a broker's listeners."""

from moldau.config.values import split_list


def advertised(listeners: str, host: str) -> str:
    """The value of `advertised.listeners`: every listener at its own port, but at this host."""
    place = f"[{host}]" if ":" in host else host
    parts = []
    for listener in filter(None, split_list(listeners.strip())):
        name, _, address = listener.partition("://")
        parts.append(f"{name}://{place}:{address.rpartition(':')[2]}")
    return ",".join(parts)
