"""Show, add and remove access rules; an authorizer is needed for more, see conformance."""

import pytest

from moldau.cli.acls import OPTIONS
from moldau.cli.terminal.access_options import wanted_rules
from moldau.cli.terminal.failure import CommandFailed
from moldau.security.acls import Acl, Operation, PatternType, Permission, ResourceType
from unit.cli.command import run


def rules(*options: str) -> list[Acl]:
    return wanted_rules(OPTIONS.parse(options), PatternType.LITERAL)


def test_every_principal_gets_every_operation_on_every_resource() -> None:
    found = rules(
        *("--allow-principal", "User:a", "--deny-principal", "User:b", "--deny-host", "h"),
        *("--operation", "Read", "--operation", "describeConfigs", "--topic", "t", "--cluster"),
    )
    assert len(found) == 8
    assert found[1] == Acl(
        resource_type=ResourceType.TOPIC,
        resource_name="t",
        principal="User:b",
        operation=Operation.READ,
        permission=Permission.DENY,
        host="h",
    )


def test_what_producers_and_consumers_need() -> None:
    found = rules("--allow-principal", "User:a", "--producer", "--topic", "t", "--idempotent")
    assert [each.operation.name for each in found] == [
        "WRITE",
        "DESCRIBE",
        "CREATE",
        "IDEMPOTENT_WRITE",
    ]
    found = rules("--allow-principal", "User:a", "--consumer", "--topic", "t", "--group", "g")
    assert [each.operation.name for each in found] == ["READ", "DESCRIBE", "READ"]


def test_what_is_missing_or_unknown_is_said(bootstrap: str) -> None:
    with pytest.raises(CommandFailed, match="You must specify one of: --allow-principal"):
        rules("--topic", "t")
    with pytest.raises(CommandFailed, match="there is no operation dance"):
        rules("--topic", "t", "--allow-principal", "User:a", "--operation", "dance")
    done = run("acls", bootstrap, "--list", "--resource-pattern-type", "odd")
    assert done.stderr == "Invalid resource-pattern-type: odd\n"
    add = ("--add", "--topic", "t", "--allow-principal", "User:a")
    done = run("acls", bootstrap, *add, "--resource-pattern-type", "match")
    assert "value of 'MATCH' is not valid here" in done.stderr
    assert "must be specified" in run("acls", "--list").stderr


def test_nothing_is_removed_without_a_yes(bootstrap: str) -> None:
    done = run("acls", bootstrap, "--remove", "--topic", "t", stdin="n\n")
    assert done.stdout.startswith("Are you sure you want to remove ACLs: ")
