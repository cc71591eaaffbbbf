"""Look at ZooKeeper's nodes and change them (zookeeper-shell.sh, zkCli.sh)."""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import ZOOKEEPER_TLS, Option, Options
from moldau.cli.znodes.session import zookeeper_session
from moldau.coordination.tree import (
    ANY_VERSION,
    BadVersion,
    Create,
    NodeExists,
    NodeStat,
    NoNode,
    NotEmpty,
    Tree,
    TreeError,
)

_DEFAULT_SERVER = "localhost:2181"
_WATCHER = "\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null"
_COMMANDS = "create delete deleteall get getAllChildrenNumber help ls ls2 quit rmr set stat"

_ENDS = ("quit", "exit", "close")
_WORD = re.compile(r"""[^"'\s]\S*|"[^"]*"|'[^']*'""")

OPTIONS = Options(
    "zookeeper-shell",
    "Runs one command on ZooKeeper's nodes, or those that are typed: " + _COMMANDS,
    Option("server", "The servers; without the option the first argument.", "SERVERS"),
    Option("timeout", "For scripts: how long a session lasts.", "MILLISECONDS"),
    Option("r", "For scripts: read only servers are not used."),
    ZOOKEEPER_TLS,
    arguments="[SERVERS] [COMMAND...]",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    servers, tls_file, command = read_arguments(arguments)
    return asyncio.run(_run(servers, tls_file, command))


def read_arguments(arguments: Sequence[str]) -> tuple[str, str, list[str]]:
    """The servers, the file for TLS, and the command if there is one."""
    # Options of the shell stand first, options of its command behind that.
    count = next((at for at, word in enumerate(arguments) if _is_command(arguments, at)), None)
    own = arguments if count is None else arguments[:count]
    given = OPTIONS.parse(own)
    servers, rest = given.text("server"), given.rest
    if not servers:
        servers, rest = next(iter(rest), _DEFAULT_SERVER), rest[1:]
    command = rest if count is None else [*rest, *arguments[count:]]
    return servers, given.text("zk-tls-config-file"), command


def _is_command(arguments: Sequence[str], at: int) -> bool:
    before = arguments[at - 1] if at else ""
    is_value = before in ("-server", "--server", "-timeout", "--timeout", "-zk-tls-config-file")
    return arguments[at] in _COMMANDS.split() and not is_value


async def _run(servers: str, tls_file: str, command: list[str]) -> int:
    print(f"Connecting to {servers}", flush=True)
    async with zookeeper_session(servers, tls_file) as tree:
        print(_WATCHER)
        shell = Shell(tree)
        if command:
            return 0 if command[0] in _ENDS or await shell.run(command) else 1
        for line in _typed_lines(servers):
            words = split_words(line)
            if words and words[0] in _ENDS:
                break
            await shell.run(words)
    return 0


def _typed_lines(servers: str) -> Iterator[str]:
    number = 0
    while True:
        if sys.stdin.isatty():
            print(f"[zk: {servers}(CONNECTED) {number}] ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield line
        number += 1


class Shell:
    """The commands; each prints what ZooKeeper's own shell prints."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._commands: dict[str, Callable[[list[str]], Awaitable[None]]] = {
            "ls": self._list,
            "ls2": lambda words: self._list(["-s", *words]),
            "get": self._get,
            "stat": self._stat,
            "create": self._create,
            "set": self._set,
            "delete": self._delete,
            "rmr": self._delete_all,
            "deleteall": self._delete_all,
            "getAllChildrenNumber": self._count,
            "help": self._help,
        }

    async def run(self, words: list[str]) -> bool:
        """Run one command; False if it could not be done."""
        if not words:
            return True
        command = self._commands.get(words[0])
        if command is None:
            print(f"Command not found: Command not found {words[0]}")
            return False
        try:
            await command(words[1:])
        except CommandFailed as failed:
            print(failed)
        except NoNode as error:
            print(f"Node does not exist: {error.path}")
        except NodeExists as error:
            print(f"Node already exists: {error.path}")
        except NotEmpty as error:
            print(f"Node not empty: {error.path}")
        except BadVersion as error:
            print(f"version No is not valid : {error.path}")
        except TreeError as error:
            print(error)
        else:
            return True
        return False

    async def _list(self, words: list[str]) -> None:
        flags, path = _flags_and_path(words, "ls [-s] [-R] path")
        if "-R" in flags:
            for each in await self._below(path):
                print(each)
            return
        children = await self._tree.children(path)
        print(f"[{', '.join(children)}]")
        if "-s" in flags:
            await self._stat([path])

    async def _get(self, words: list[str]) -> None:
        flags, path = _flags_and_path(words, "get [-s] path")
        node = await self._tree.get(path)
        print(node.data.decode(errors="replace") if node.data else "null")
        if "-s" in flags:
            print("\n".join(stat_lines(node.stat, len(node.data))))

    async def _stat(self, words: list[str]) -> None:
        _, path = _flags_and_path(words, "stat path")
        node = await self._tree.get(path)
        print("\n".join(stat_lines(node.stat, len(node.data))))

    async def _create(self, words: list[str]) -> None:
        flags = [word for word in words if word in ("-e", "-s")]
        path, *data = [word for word in words if word not in flags] or [""]
        if not path:
            raise CommandFailed("create [-s] [-e] path [data]")
        created = await self._tree.create(
            Create(
                path,
                data[0].encode() if data else None,
                is_ephemeral="-e" in flags,
                is_sequential="-s" in flags,
            )
        )
        print(f"Created {created.path}")

    async def _set(self, words: list[str]) -> None:
        if len(words) < 2:
            raise CommandFailed("set path data [version]")
        path, data, *version = words
        await self._tree.set(path, data.encode(), version=_version(version))

    async def _delete(self, words: list[str]) -> None:
        _, path = _flags_and_path(words, "delete path [version]")
        await self._tree.delete(path, version=_version(words[words.index(path) + 1 :]))

    async def _delete_all(self, words: list[str]) -> None:
        _, path = _flags_and_path(words, "deleteall path")
        for each in reversed(await self._below(path)):
            await self._tree.delete(each)

    async def _count(self, words: list[str]) -> None:
        _, path = _flags_and_path(words, "getAllChildrenNumber path")
        print(len(await self._below(path)) - 1)

    async def _help(self, _words: list[str]) -> None:
        print(f"ZooKeeper -server host:port command\ncommands: {_COMMANDS}")

    async def _below(self, path: str) -> list[str]:
        """The node and all below it, parents first."""
        found = [path]
        for child in await self._tree.children(path):
            found += await self._below(f"{path.rstrip('/')}/{child}")
        return found


def stat_lines(stat: NodeStat, size: int) -> list[str]:
    """What is known of a node, in ZooKeeper's words."""
    return [
        f"cZxid = {stat.czxid:#x}",
        f"ctime = {_time(stat.created_ms)}",
        f"mZxid = {stat.mzxid:#x}",
        f"mtime = {_time(stat.changed_ms)}",
        f"pZxid = {stat.pzxid:#x}",
        f"cversion = {stat.children_version}",
        f"dataVersion = {stat.version}",
        f"aclVersion = {stat.acl_version}",
        f"ephemeralOwner = {stat.ephemeral_owner:#x}",
        f"dataLength = {size}",
        f"numChildren = {stat.children_count}",
    ]


def split_words(line: str) -> list[str]:
    """The words of a line as ZooKeeper's own shell sees them: quotes inside a word are kept."""
    return [word.strip(word[0]) if word[0] in "\"'" else word for word in _WORD.findall(line)]


def _version(words: list[str]) -> int:
    if not words:
        return ANY_VERSION
    try:
        return int(words[0])
    except ValueError:
        raise CommandFailed(f"version No is not valid : {words[0]}") from None


def _flags_and_path(words: list[str], usage: str) -> tuple[list[str], str]:
    flags = [word for word in words if word.startswith("-")]
    paths = [word for word in words if not word.startswith("-")]
    if not paths:
        raise CommandFailed(usage)
    if not paths[0].startswith("/"):
        raise CommandFailed("Path must start with / character")
    return flags, paths[0]


def _time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000).astimezone()
    return moment.strftime("%a %b %d %H:%M:%S %Z %Y")
