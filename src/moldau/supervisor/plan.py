"""Which brokers make up a cluster on one machine, and the settings of each of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moldau.config.broker.network import NetworkConfig
from moldau.config.values import config_error
from moldau.coordination.nodes import NodeRow

BROKERS_MAX = 64
LOOPBACK = "127.0.0.1"
"""Where what is for this machine alone is served."""
_PORT_MAX = 65_535
_REPLICAS_MAX = 3
_IN_SYNC_MAX = 2
_CHOSEN = (
    *("broker.id", "listeners", "advertised.listeners", "zookeeper.connect"),
    *("log.dir", "log.dirs"),
)
_OWN, _SHARED, _INTERNAL = "PLAINTEXT", "SHARED", "INTERNAL"
_PROTOCOLS = "listener.security.protocol.map"
_AMONG_BROKERS = "inter.broker.listener.name"
_TOPICS = "/brokers/topics/"
_NAMED_MAX = 10


@dataclass(frozen=True, slots=True)
class ClusterWish:
    """What the user asks for."""

    count: int
    data: Path
    host: str
    ports: Sequence[int]
    """One for each broker."""
    texts: Mapping[str, str] = field(repr=False)
    """Settings that all of them have."""
    advertised_host: str = ""
    """Sent to clients, if it is not where the brokers listen."""
    shared_port: int | None = None
    """Where any of them answers that is there; in Metadata they have ports of their own."""
    tree_port: int = 0
    """Where the tree is served, to this machine alone; 0: any that is free."""

    def directory(self, broker_id: int) -> Path:
        """Where a broker keeps its data."""
        return self.data / f"broker-{broker_id}"


def ports_of(count: int, shared: int, given: Sequence[int]) -> list[int]:
    """The ports of so many brokers: those that are given, or those after the shared one."""
    ports = list(given) or list(range(shared + 1, shared + 1 + count))
    if len(ports) != count:
        raise config_error(f"--ports names {len(ports)} ports for {count} brokers")
    if len(set(ports)) != count or not all(0 < port <= _PORT_MAX for port in ports):
        raise config_error(f"{count} different ports up to {_PORT_MAX} are needed: {ports}")
    return ports


def check_wish(wish: ClusterWish) -> None:
    """Refuse what contradicts itself."""
    if not 1 <= wish.count <= BROKERS_MAX:
        raise config_error(f"--brokers must be from 1 to {BROKERS_MAX}, not {wish.count}")
    if wish.shared_port in wish.ports:
        raise config_error(
            f"--port {wish.shared_port} is where any broker answers: it cannot be in --ports too"
        )
    if not 0 <= wish.tree_port <= _PORT_MAX:
        raise config_error(f"--tree-port {wish.tree_port} is not between 0 and {_PORT_MAX}")
    if wish.tree_port in (*wish.ports, wish.shared_port):
        raise config_error(f"--tree-port {wish.tree_port} is a port of the brokers")
    chosen = [name for name in _CHOSEN if name in wish.texts]
    if chosen:
        raise config_error(
            f"with --brokers each broker has its own {', '.join(chosen)}: leave it out, and use "
            "--host, --port or --ports, and --data"
        )


def settings_of(wish: ClusterWish, broker_id: int, tree: str) -> dict[str, str]:
    """All settings of one broker."""
    replicas = min(_REPLICAS_MAX, wish.count)
    return {
        # As many copies as there can be; a file or a setting may ask for others.
        "offsets.topic.replication.factor": str(replicas),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(min(_IN_SYNC_MAX, wish.count)),
        **wish.texts,
        "broker.id": str(broker_id),
        **dict(_listeners(wish, wish.ports[broker_id])),
        "zookeeper.connect": tree,
        "log.dirs": str(wish.directory(broker_id)),
    }


def _listeners(wish: ClusterWish, port: int) -> Iterator[tuple[str, str]]:
    """Where a broker listens, and what it advertises: always the port of its own."""
    bound = {_OWN: (wish.host, port)}
    advertised = {_OWN: (wish.advertised_host or wish.host, port)}
    if wish.shared_port is not None:
        bound[_SHARED] = wish.host, wish.shared_port
        advertised[_SHARED] = advertised[_OWN]
    if wish.advertised_host:
        # Advertised addresses may lead nowhere from here: brokers call each other directly.
        bound[_INTERNAL] = advertised[_INTERNAL] = LOOPBACK, 0
        yield _AMONG_BROKERS, _INTERNAL
    if len(bound) > 1:
        protocols = [wish.texts.get(_PROTOCOLS, _listener_protocols())]
        protocols += [f"{name}:{_OWN}" for name in bound if name != _OWN]
        yield _PROTOCOLS, ",".join(protocols)
        yield "advertised.listeners", _listed(advertised)
    yield "listeners", _listed(bound)


def _listed(listeners: Mapping[str, tuple[str, int]]) -> str:
    return ",".join(_listener(name, *place) for name, place in listeners.items())


def _listener(name: str, host: str, port: int) -> str:
    return f"{name}://{f'[{host}]' if ':' in host else host}:{port}"


def _listener_protocols() -> str:
    default = NetworkConfig().listener_security_protocol_map
    assert isinstance(default, str)
    return default


def lost_partitions(rows: Sequence[NodeRow], count: int) -> list[str]:
    """The partitions that have no replica on the brokers that are left, by the tree's nodes."""
    return sorted(
        f"{topic}-{number}"
        for topic, number, replicas in _assignments(rows)
        if replicas and all(broker_id >= count for broker_id in replicas)
    )


def check_nothing_is_lost(rows: Sequence[NodeRow], count: int) -> None:
    """Refuse to start fewer brokers than the partitions need."""
    lost = lost_partitions(rows, count)
    if not lost:
        return
    kept = ",".join(map(str, range(count)))
    named = ", ".join(lost[:_NAMED_MAX]) + (", …" if len(lost) > _NAMED_MAX else "")
    raise config_error(
        f"with --brokers {count}, {len(lost)} partitions would have no replica left: {named}. "
        f"Start as many brokers as before, and first move them: moldau rebalance --brokers {kept}"
    )


def _assignments(rows: Sequence[NodeRow]) -> Iterator[tuple[str, int, list[int]]]:
    for row in rows:
        topic = row.path.removeprefix(_TOPICS)
        if topic != row.path and "/" not in topic and row.data:
            for number, replicas in json.loads(row.data)["partitions"].items():
                yield topic, int(number), replicas
