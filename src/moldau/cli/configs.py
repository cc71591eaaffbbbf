"""Show and change settings of topics, brokers, users and clients (kafka-configs.sh)."""

import asyncio
import json
from collections.abc import Sequence

from moldau.cli.config_entities.entity import Entity, entities_of
from moldau.cli.config_entities.quotas import QuotaAdmin, alter_quotas, describe_quotas
from moldau.cli.config_entities.settings import SettingAdmin, alter_settings, describe_settings
from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.client_settings import read_file
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_CONTROLLER,
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    ZOOKEEPER_TLS,
    Given,
    Option,
    Options,
)
from moldau.errors import KafkaError

OPTIONS = Options(
    "configs",
    "Shows and changes settings of topics, brokers, users, clients and addresses.",
    BOOTSTRAP_SERVER,
    BOOTSTRAP_CONTROLLER,
    COMMAND_CONFIG,
    FORMAT,
    Option("describe", "Print settings."),
    Option("alter", "Change settings."),
    Option("entity-type", "topics, brokers, broker-loggers, users, clients or ips.", "TYPE"),
    Option("entity-name", "Its name or id.", "NAME"),
    Option("entity-default", "The default of this type."),
    Option("topic", "The topic with this name.", "TOPIC"),
    Option("broker", "The broker with this id.", "NUMBER"),
    Option("broker-defaults", "The default of all brokers."),
    Option("broker-logger", "The loggers of this broker.", "NUMBER"),
    Option("user", "The user with this name.", "USER"),
    Option("user-defaults", "The default of all users."),
    Option("client", "The client with this id.", "ID"),
    Option("client-defaults", "The default of all clients."),
    Option("ip", "The address.", "ADDRESS"),
    Option("ip-defaults", "The default of all addresses."),
    Option("group", "The group with this name.", "GROUP"),
    Option("all", "All settings, not only those that were changed."),
    Option("add-config", "Settings to change: a=1,b=[x,y].", "SETTINGS"),
    Option("add-config-file", "A file with settings to change.", "FILE"),
    Option("delete-config", "Settings to remove: a,b.", "NAMES"),
    Option("force", "Ignored, for old scripts."),
    Option("zookeeper", "As before 3.0: read and write ZooKeeper instead.", "SERVERS"),
    ZOOKEEPER_TLS,
)

_QUOTA_TYPES = ("users", "clients", "ips")


class ConfigAdmin(SettingAdmin, QuotaAdmin):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.refuse_controller()
    entities = check(given)
    if "zookeeper" in given:
        _run_with_zookeeper(given, entities)
        return 0
    try:
        run_admin(given, ConfigAdmin, lambda admin: _run(admin, given, entities))
    except KafkaError as error:
        words = " ".join(arguments)
        raise CommandFailed(
            f"Error while executing config command with args '{words}': {error}"
        ) from error
    return 0


def check(given: Given) -> list[Entity]:
    """Whose settings are meant; ends unless the options fit together."""
    if ("describe" in given) == ("alter" in given):
        raise CommandFailed("Command must include exactly one action: --describe, --alter")
    entities = entities_of(given)
    if "bootstrap-server" not in given and "zookeeper" not in given:
        raise CommandFailed(
            "One of the required --bootstrap-server or --bootstrap-controller arguments "
            "must be specified"
        )
    if "alter" in given:
        if any(each.name is None for each in entities):
            raise CommandFailed(
                "An entity name must be specified with --alter of "
                + ", ".join(each.kind for each in entities)
            )
        if not any(name in given for name in ("add-config", "add-config-file", "delete-config")):
            raise CommandFailed(
                "At least one of --add-config, --add-config-file, or --delete-config must be "
                "specified with --alter"
            )
        given.refuse("add-config", "add-config-file")
    return entities


async def _run(admin: ConfigAdmin, given: Given, entities: list[Entity]) -> None:
    has_quotas = entities[0].kind in _QUOTA_TYPES
    if "describe" in given:
        if has_quotas:
            data = await describe_quotas(admin, entities, is_json=given.is_json)
        else:
            data = await describe_settings(
                admin, entities[0], is_every="all" in given, is_json=given.is_json
            )
        if given.is_json:
            print(json.dumps(data))
        return
    added, removed = _changes(given)
    if has_quotas:
        await alter_quotas(admin, entities, added, removed)
    else:
        await alter_settings(admin, entities[0], added, removed)


def _run_with_zookeeper(given: Given, entities: list[Entity]) -> None:
    given.refuse_json("--zookeeper")
    from moldau.cli.znodes.configs import (  # noqa: PLC0415 - seldom
        alter_with_zookeeper,
        describe_with_zookeeper,
    )

    work = (
        describe_with_zookeeper(given, entities)
        if "describe" in given
        else alter_with_zookeeper(given, entities, *_changes(given))
    )
    asyncio.run(work)


def _changes(given: Given) -> tuple[dict[str, str], list[str]]:
    added = parse_settings(given.text("add-config")) | read_file(given.text("add-config-file"))
    removed = [name.strip() for name in given.text("delete-config").split(",") if name.strip()]
    return added, removed


def parse_settings(text: str) -> dict[str, str]:
    """Settings in a=1,b=[x,y]: commas within brackets belong to the value."""
    found: dict[str, str] = {}
    part, depth = "", 0
    for character in f"{text},":
        if character == "," and depth == 0:
            if part:
                name, equals, value = part.partition("=")
                if not equals:
                    raise CommandFailed(
                        "Invalid entity config: all configs to be added must be in the format "
                        '"key=val".'
                    )
                found[name.strip()] = value
            part = ""
            continue
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character not in "[]":
            part += character
    return found
