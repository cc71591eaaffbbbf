"""Files that describe connectors: properties as Java reads them, JSON, or TOML."""

import json
import tomllib
from collections.abc import Mapping

from moldau.cli.terminal.failure import CommandFailed
from moldau.config.properties import decode_properties

Settings = dict[str, str]


def read_connector(path: str) -> tuple[str, Settings]:
    """A connector's name and settings: `name=…` or JSON, flat or with `config` (KIP-980)."""
    data = _read(path)
    if path.endswith(".json"):
        found = _json(path, data)
        config = found.get("config", found)
        if not isinstance(config, dict):
            raise CommandFailed(f"{path}: config is no object")
        settings = texts(config)
        name = str(found.get("name", settings.get("name", "")))
    else:
        settings = decode_properties(data)
        name = settings.get("name", "")
    if not name:
        raise CommandFailed(f"{path}: the name of the connector is missing")
    return name, {**settings, "name": name}


def read_pipeline(path: str) -> tuple[Settings, dict[str, Settings]]:
    """The worker's settings, and the connectors by name.

    [worker]
    "bootstrap.servers" = "localhost:9092"

    [connectors.lines]
    "connector.class" = "FileStreamSource"
    """
    data = _read(path)
    try:
        found = _json(path, data) if path.endswith(".json") else tomllib.loads(data.decode())
    except (ValueError, tomllib.TOMLDecodeError) as error:
        raise CommandFailed(f"{path}: {error}") from error
    worker, connectors = found.get("worker", {}), found.get("connectors", {})
    if not isinstance(worker, dict) or not isinstance(connectors, dict) or not connectors:
        raise CommandFailed(f"{path}: there are no connectors under `connectors`")
    named = {}
    for name, config in connectors.items():
        if not isinstance(config, dict):
            raise CommandFailed(f"{path}: connectors.{name} is no table of settings")
        named[name] = {**texts(config), "name": name}
    return texts(worker), named


def texts(found: Mapping[str, object], prefix: str = "") -> Settings:
    """Settings as texts; tables within tables are names with dots, as TOML reads `a.b = 1`."""
    settings: Settings = {}
    for name, value in found.items():
        if isinstance(value, dict):
            settings |= texts(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            settings[f"{prefix}{name}"] = ",".join(map(str, value))
        elif isinstance(value, bool):
            settings[f"{prefix}{name}"] = "true" if value else "false"
        elif value is not None:
            settings[f"{prefix}{name}"] = str(value)
    return settings


def _json(path: str, data: bytes) -> dict[str, object]:
    try:
        found = json.loads(data)
    except ValueError as error:
        raise CommandFailed(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise CommandFailed(f"{path}: it holds no object")
    return found


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
