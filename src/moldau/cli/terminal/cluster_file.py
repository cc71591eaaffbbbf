"""A file that names several clusters.

# name: bootstrap servers, or a file with settings of clients
local: localhost:9092
production: production.properties
"""

from pathlib import Path

from moldau.cli.terminal.client_settings import read_file
from moldau.cli.terminal.failure import CommandFailed


def read_clusters(path: str) -> dict[str, dict[str, str]]:
    """Settings of clients by the names of clusters; files are beside this one."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    found: dict[str, dict[str, str]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, rest = (part.strip() for part in line.partition(":"))
        if not name or not colon or not rest or name in found:
            raise CommandFailed(f"{path}: line {number}: `name: SERVERS` or `name: FILE`, once")
        beside = Path(path).parent / rest
        is_file = beside.is_file() or rest.endswith(".properties")
        found[name] = read_file(str(beside)) if is_file else {"bootstrap.servers": rest}
        if "bootstrap.servers" not in found[name]:
            raise CommandFailed(f"{beside}: has no bootstrap.servers")
    if not found:
        raise CommandFailed(f"{path}: names no cluster")
    return found
