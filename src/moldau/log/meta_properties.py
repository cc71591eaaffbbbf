"""`meta.properties`: which broker of which cluster a log directory belongs to.

A Java properties file. Version 0 is what Kafka in ZooKeeper mode writes and reads:

    #
    #Sat Nov 14 10:00:00 UTC 2026
    cluster.id=I2eXt9rvSnyhct8BYmW6-w
    version=0
    broker.id=1
"""

from dataclasses import dataclass

from moldau.log.checkpoint import CheckpointError
from moldau.runtime.disk import Disk, write_atomically

FILE_NAME = "meta.properties"
VERSION = "0"


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The owner of a log directory; a directory of an old broker may not know its cluster."""

    broker_id: int
    cluster_id: str | None


def read(disk: Disk, path: str) -> MetaProperties | None:
    """The owner, or None without a file; raises `CheckpointError` if it is malformed."""
    if disk.status(path) is None:
        return None
    try:
        text = disk.read_file(path).decode("latin-1")
        values = _parse(text)
        if values["version"] != VERSION:
            raise CheckpointError(f"version {values['version'][:20]}, not {VERSION}")
        broker_id = int(values["broker.id"])
    except (KeyError, ValueError) as error:
        raise CheckpointError(f"no valid version and broker.id: {error}") from None
    return MetaProperties(broker_id, values.get("cluster.id"))


def write(disk: Disk, path: str, owner: MetaProperties) -> None:
    """Write the file durably."""
    lines = [f"version={VERSION}", f"broker.id={owner.broker_id}"]
    if owner.cluster_id is not None:
        lines.insert(0, f"cluster.id={owner.cluster_id}")
    write_atomically(disk, path, ("\n".join(lines) + "\n").encode("latin-1"))


def _parse(text: str) -> dict[str, str]:
    values = {}
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in "#!":
            name, _, value = stripped.partition("=")
            values[name.strip()] = value.strip()
    return values
