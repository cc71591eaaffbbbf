"""Look at ZooKeeper's nodes and change them; with a real one in conformance."""

import pytest

from moldau.cli.zookeeper_shell import Shell, read_arguments, split_words
from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import Create
from moldau.runtime.clock import SystemClock


@pytest.fixture
async def shell() -> Shell:
    tree = MemoryEnsemble(SystemClock()).connect()
    await tree.create(Create("/a", b"data"))
    await tree.create(Create("/a/b"))
    return Shell(tree)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("set /a 'two words'  3\n", ["set", "/a", "two words", "3"]),
        ('set /a {"b":1}', ["set", "/a", '{"b":1}']),
        ('set /a ""', ["set", "/a", ""]),
        ('get "/a', ["get", "/a"]),
        ("", []),
    ],
)
def test_lines_have_the_words_that_zookeepers_shell_sees(line: str, words: list[str]) -> None:
    assert split_words(line) == words


async def say(shell: Shell, capsys: pytest.CaptureFixture[str], line: str) -> str:
    await shell.run(line.split())
    return capsys.readouterr().out


async def test_nodes_are_looked_at(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert await say(shell, capsys, "ls /") == "[a]\n"
    assert await say(shell, capsys, "ls -R /") == "/\n/a\n/a/b\n"
    assert await say(shell, capsys, "get /a") == "data\n"
    assert await say(shell, capsys, "get /a/b") == "null\n"
    assert await say(shell, capsys, "getAllChildrenNumber /") == "2\n"
    for line in ("stat /a", "get -s /a", "ls2 /a"):
        assert "dataLength = 4\nnumChildren = 1\n" in await say(shell, capsys, line)
    names = [each.split(" = ")[0] for each in (await say(shell, capsys, "stat /a")).splitlines()]
    expected = "cZxid ctime mZxid mtime pZxid cversion dataVersion aclVersion ephemeralOwner"
    assert names == [*expected.split(), "dataLength", "numChildren"]
    assert "deleteall" in await say(shell, capsys, "help")


async def test_nodes_are_changed(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert await say(shell, capsys, "create /c x") == "Created /c\n"
    assert await say(shell, capsys, "create -s -e /c/n") == "Created /c/n0000000000\n"
    assert await say(shell, capsys, "set /c y") == ""
    assert await say(shell, capsys, "get /c") == "y\n"
    assert await say(shell, capsys, "rmr /c") == ""
    assert await say(shell, capsys, "delete /a/b") == ""
    assert await say(shell, capsys, "deleteall /a") == ""
    assert await say(shell, capsys, "ls /") == "[]\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("get /nope", "Node does not exist: /nope"),
        ("create /a", "Node already exists: /a"),
        ("delete /a", "Node not empty: /a"),
        ("set /a x 9", "version No is not valid : /a"),
        ("set /a x nine", "version No is not valid : nine"),
        ("delete /a/b 9", "version No is not valid : /a/b"),
        ("delete /a/b nine", "version No is not valid : nine"),
        ("ls a", "Path must start with / character"),
        ("ls", "ls [-s] [-R] path"),
        ("set /a", "set path data [version]"),
        ("create", "create [-s] [-e] path [data]"),
        ("dance", "Command not found: Command not found dance"),
    ],
)
async def test_what_cannot_be_done_is_said(
    shell: Shell, capsys: pytest.CaptureFixture[str], line: str, reason: str
) -> None:
    assert await say(shell, capsys, line) == f"{reason}\n"
    assert await shell.run([])


@pytest.mark.parametrize(
    ("line", "servers", "command"),
    [
        ("", "localhost:2181", []),
        ("h:1", "h:1", []),
        ("h:1 ls /", "h:1", ["ls", "/"]),
        ("-server h:1 dance /", "h:1", ["dance", "/"]),
        ("-server h:1 get -s /a", "h:1", ["get", "-s", "/a"]),
        ("h:1 quit", "h:1", ["quit"]),
    ],
)
def test_what_stands_behind_the_servers_is_a_command(
    line: str, servers: str, command: list[str]
) -> None:
    assert read_arguments(line.split()) == (servers, "", command)
