"""The four letters that people and monitors send to a server instead of a message."""

from collections.abc import Callable
from dataclasses import dataclass

VERSION = "3.8.4-moldau"


@dataclass(frozen=True, slots=True)
class Figures:
    """What the server counts."""

    zxid: int
    nodes: int
    ephemeral_nodes: int
    data_bytes: int
    watches: int
    watched_paths: int
    sessions: int
    connections: int
    received: int
    sent: int


def answer_word(word: str, figures: Callable[[], Figures]) -> str | None:
    """The answer; None if the letters mean nothing."""
    match word:
        case "ruok":
            return "imok"
        case "isro":
            return "rw"
        case "envi":
            return f"Environment:\nzookeeper.version={VERSION}\n"
        case "srvr" | "stat":
            return _srvr(figures())
        case "mntr":
            return _mntr(figures())
        case _:
            return None


def _srvr(figures: Figures) -> str:
    return (
        f"Zookeeper version: {VERSION}\n"
        f"Received: {figures.received}\n"
        f"Sent: {figures.sent}\n"
        f"Connections: {figures.connections}\n"
        "Outstanding: 0\n"
        f"Zxid: 0x{figures.zxid:x}\n"
        "Mode: standalone\n"
        f"Node count: {figures.nodes}\n"
    )


def _mntr(figures: Figures) -> str:
    found: dict[str, object] = {
        "zk_version": VERSION,
        "zk_server_state": "standalone",
        "zk_packets_received": figures.received,
        "zk_packets_sent": figures.sent,
        "zk_num_alive_connections": figures.connections,
        "zk_global_sessions": figures.sessions,
        "zk_znode_count": figures.nodes,
        "zk_ephemerals_count": figures.ephemeral_nodes,
        "zk_approximate_data_size": figures.data_bytes,
        "zk_watch_count": figures.watches,
        "zk_watched_paths": figures.watched_paths,
    }
    return "".join(f"{name}\t{value}\n" for name, value in found.items())
