"""Access rules by the options of kafka-acls.sh."""

import pytest

from moldau.cli.acls import OPTIONS
from moldau.cli.terminal.access_options import by_pattern, wanted_filters, wanted_rules
from moldau.cli.terminal.failure import CommandFailed
from moldau.security.acls import Operation, PatternType, ResourceType


def test_a_role_stands_for_what_it_needs() -> None:
    options = "--add --allow-principal User:u --consumer --topic t --group g"
    rules = wanted_rules(OPTIONS.parse(options.split()), PatternType.LITERAL)
    found = {
        kind.name: [each.operation for each in rules]
        for (kind, _, _), rules in by_pattern(rules).items()
    }
    assert found == {"TOPIC": [Operation.READ, Operation.DESCRIBE], "GROUP": [Operation.READ]}


def test_what_is_listed_is_named_or_everything() -> None:
    (every,) = wanted_filters(OPTIONS.parse(["--list"]))
    assert every.resource_type is ResourceType.ANY
    (one,) = wanted_filters(OPTIONS.parse(["--list", "--topic", "t"]))
    assert (one.resource_name, one.pattern_type) == ("t", PatternType.ANY)


def test_somebody_must_be_named_to_add_rules() -> None:
    given = OPTIONS.parse(["--add", "--topic", "t"])
    with pytest.raises(CommandFailed, match="--allow-principal, --deny-principal"):
        wanted_rules(given, PatternType.LITERAL)
