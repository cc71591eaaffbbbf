"""Passwords of users for SCRAM, as settings of theirs."""

from collections.abc import Iterable, Mapping, Sequence

from moldau.cli.config_entities.entity import Entity
from moldau.cli.terminal.client_settings import read_pairs
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.admin.users import ScramCredential, ScramDeletion, ScramPassword, UsersArea
from moldau.errors import ErrorCode, KafkaError

PREFIX = "SCRAM-"
_ITERATIONS = 4096

Passwords = Mapping[str, Sequence[ScramCredential]]


async def find_passwords(admin: UsersArea, user: str | None) -> Passwords:
    """The users that have passwords; none where the cluster has no such users."""
    try:
        found = await admin.describe_user_scram_credentials(None if user is None else [user])
    except KafkaError as error:
        if error.code is ErrorCode.UNSUPPORTED_VERSION:
            return {}
        raise
    return found.succeeded


def password_lines(passwords: Passwords) -> list[str]:
    """A line for each user."""
    return [
        f"SCRAM credential configs for user-principal '{name}' are "
        + ", ".join(f"{each.mechanism}=iterations={each.iterations}" for each in credentials)
        for name, credentials in passwords.items()
    ]


async def alter_passwords(
    admin: UsersArea, entity: Entity, added: Mapping[str, str], removed: Iterable[str]
) -> None:
    """Give a user passwords and take others away."""
    if entity.kind != "users" or not entity.name:
        raise CommandFailed("The use of --entity-default or clients is not allowed with SCRAM")
    changes: list[ScramPassword | ScramDeletion] = [
        parse_password(entity.name, mechanism, text) for mechanism, text in added.items()
    ]
    changes += [ScramDeletion(entity.name, mechanism) for mechanism in removed]
    (await admin.alter_user_scram_credentials(changes)).check()


def parse_password(user: str, mechanism: str, text: str) -> ScramPassword:
    """A password from iterations=8192,password=x."""
    parts = read_pairs(text.split(","))
    if not parts.get("password"):
        raise CommandFailed(f"You must specify a non-empty password with {mechanism}")
    try:
        iterations = int(parts.get("iterations", _ITERATIONS))
    except ValueError:
        raise CommandFailed(f"{mechanism}: iterations must be a number") from None
    return ScramPassword(user, parts["password"], mechanism, iterations)
