"""Add, list and remove users that log in with a password (SCRAM).

Without --bootstrap-server the users are those of a broker that is alone and does not run: of
its directory, so that the first administrator can exist before the first start.
"""

import argparse
import asyncio
import getpass
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from moldau.cli.config_entities.passwords import PREFIX
from moldau.cli.terminal.administration import administration
from moldau.cli.terminal.client_settings import read_file, usable
from moldau.cli.terminal.data_directory import default_directory
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes.configs import ZooKeeperConfigs
from moldau.client.admin.connected import Connected
from moldau.client.admin.users import ScramDeletion, ScramPassword, UsersArea
from moldau.client.settings import AdminSettings
from moldau.coordination.embedded import EmbeddedTree
from moldau.coordination.journal import FILE_NAME, StoreError
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.layout.names import DEFAULT_ENTITY, desanitize
from moldau.coordination.tree import NoNode
from moldau.runtime.clock import SystemClock
from moldau.runtime.random import SystemRandom
from moldau.security.scram import ITERATIONS_MAX, ITERATIONS_MIN, ScramSecret, salt_of

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_USERS_PATH = "/config/users"


class UserAdmin(UsersArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.bootstrap_server is None:
        directory = Path(options.data or default_directory())
        if options.action == "add":
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not (directory / FILE_NAME).exists():
            # To open a store would make one, perhaps in a directory of a mistyped name.
            if options.action == "remove":
                _known({}, options.name)
            return 0
        asyncio.run(_offline(options, directory))
    else:
        asyncio.run(_online(options))
    return 0


async def _online(options: argparse.Namespace) -> None:
    texts = read_file(options.command_config or "")
    values = usable(AdminSettings, {**texts, "bootstrap.servers": options.bootstrap_server})
    async with administration(UserAdmin, values) as admin:
        found = (await admin.describe_user_scram_credentials()).succeeded
        kept = {name: [one.mechanism for one in credentials] for name, credentials in found.items()}
        if options.action == "list":
            _print_users(kept)
        elif options.action == "remove":
            deletions = [ScramDeletion(options.name, one) for one in _known(kept, options.name)]
            (await admin.alter_user_scram_credentials(deletions)).check()
            print(f"Removed user {options.name}.")
        else:
            password = _password()
            passwords = [
                ScramPassword(options.name, password, one, options.iterations)
                for one in _mechanisms(options)
            ]
            (await admin.alter_user_scram_credentials(passwords)).check()
            print(f"Added user {options.name}.")


async def _offline(options: argparse.Namespace, directory: Path) -> None:
    async with _store(directory) as tree:
        configs = ZooKeeperConfigs(tree)
        kept = await _kept(tree, configs)
        if options.action == "list":
            _print_users(kept)
            return
        user = ConfigEntity("users", options.name)
        if options.action == "remove":
            await configs.change(user, {}, _known(kept, options.name))
            print(f"Removed user {options.name}.")
        else:
            await configs.change(user, _hashed(options, _password()))
            print(f"Added user {options.name}.")


def _hashed(options: argparse.Namespace, password: str) -> dict[str, str]:
    """The password as brokers keep it, by mechanism."""
    random = SystemRandom()
    hashed = {}
    for mechanism in _mechanisms(options):
        salt = salt_of(int.from_bytes(random.uuid() + random.uuid()))
        secret = ScramSecret.of_password(
            mechanism, password, salt=salt, iterations=options.iterations
        )
        hashed[mechanism] = secret.to_text()
    return hashed


@asynccontextmanager
async def _store(directory: Path) -> AsyncIterator[EmbeddedTree]:
    try:
        tree = await EmbeddedTree.open(str(directory / FILE_NAME), clock=SystemClock())
    except StoreError as error:
        raise CommandFailed(
            f"{error}. If the broker runs, name it with --bootstrap-server."
        ) from error
    try:
        yield tree
    finally:
        await tree.close()


async def _kept(tree: EmbeddedTree, configs: ZooKeeperConfigs) -> dict[str, list[str]]:
    """The mechanisms of each user that has a password."""
    try:
        names = await tree.children(_USERS_PATH)
    except NoNode:
        return {}
    kept = {}
    for name in sorted(map(desanitize, (one for one in names if one != DEFAULT_ENTITY))):
        settings = await configs.read(ConfigEntity("users", name))
        mechanisms = [one for one in settings if one.startswith(PREFIX)]
        if mechanisms:
            kept[name] = mechanisms
    return kept


def _known(kept: dict[str, list[str]], name: str) -> list[str]:
    if name not in kept:
        raise CommandFailed(f"There is no user {name}.")
    return kept[name]


def _print_users(kept: dict[str, list[str]]) -> None:
    for name, mechanisms in kept.items():
        print(f"{name}\t{', '.join(sorted(mechanisms))}")


def _mechanisms(options: argparse.Namespace) -> Sequence[str]:
    return options.mechanism or MECHANISMS


def _password() -> str:
    """From the terminal, or the first line of the input: never an argument, which `ps` shows."""
    if sys.stdin.isatty():
        password = getpass.getpass()
        if getpass.getpass("Once more: ") != password:
            raise CommandFailed("The passwords differ.")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise CommandFailed("The password is empty: type it, or write it to the standard input.")
    return password


def _user(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a user needs a name")
    return text


def _iterations(text: str) -> int:
    number = int(text)
    if not ITERATIONS_MIN <= number <= ITERATIONS_MAX:
        message = f"{number} is not between {ITERATIONS_MIN} and {ITERATIONS_MAX}"
        raise argparse.ArgumentTypeError(message)
    return number


def _parser() -> argparse.ArgumentParser:
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--data", metavar="DIRECTORY", help="that of the broker, which must not run")
    where.add_argument("--bootstrap-server", metavar="SERVERS", help="ask brokers that run instead")
    where.add_argument(
        "--command-config", metavar="FILE", help="settings for the client, as Java's read them"
    )
    parser = argparse.ArgumentParser(prog="moldau users", allow_abbrev=False, description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    add = actions.add_parser(
        "add",
        parents=[where],
        allow_abbrev=False,
        help="add a user, or change its password; asks for it, or reads it from the input",
        description="Add a user, or change its password: asks for it, or reads it from the input.",
    )
    add.add_argument("name", type=_user, help="the user")
    add.add_argument(
        "--mechanism",
        action="append",
        choices=MECHANISMS,
        help="may be given more than once; default: both",
    )
    add.add_argument(
        "--iterations",
        type=_iterations,
        default=ITERATIONS_MIN,
        metavar="NUMBER",
        help=f"of the hash; more cost a guesser more, and each login; default: {ITERATIONS_MIN}",
    )
    actions.add_parser(
        "list",
        parents=[where],
        allow_abbrev=False,
        help="print all users",
        description="Print all users with their mechanisms.",
    )
    remove = actions.add_parser(
        "remove",
        parents=[where],
        allow_abbrev=False,
        help="take a user's passwords away",
        description="Take a user's passwords away, so that it cannot log in by SCRAM any more.",
    )
    remove.add_argument("name", type=_user, help="the user")
    return parser
