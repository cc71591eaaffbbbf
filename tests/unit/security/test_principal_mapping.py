"""Names of users from those of their certificates; most cases are those of Kafka's own tests."""

import pytest

from moldau.errors import InvalidConfig
from moldau.security.principal_mapping import read_mapping

DUKE = "CN=Duke,OU=ServiceUsers,O=Org,C=US"


@pytest.mark.parametrize(
    ("rules", "name", "user"),
    [
        ("", DUKE, DUKE),
        ("DEFAULT", DUKE, DUKE),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", DUKE, "Duke"),
        ("RULE:^CN=(.*?),OU=(.*?),O=(.*?),C=(.*?)$/$1@$2/L,DEFAULT", DUKE, "duke@serviceusers"),
        ("RULE:^CN=(.*?),OU=A.*$/$1/, RULE:^CN=(.*?),.*$/$1@x/U", DUKE, "DUKE@X"),
        ("RULE:^cn=(.*?),ou=(.*?)$/$1@$2/L,DEFAULT", DUKE, DUKE),
        ("RULE:(?i)^cn=(.*?),ou=.*$/$1/", DUKE, "Duke"),
        (r"RULE:CN=(.*?),.*/$1\/x/", DUKE, "Duke/x"),
        ("RULE:^CN=(?<u>.*?),.*$/${u}!/", DUKE, "Duke!"),
        ("RULE:^CN=(.*?),.*$/$1$2/", DUKE, "Duke$2"),
        ("RULE:^CN=(.*?),.*$/$12/", DUKE, "Duke2"),
        ("RULE:^CN=(.*?),.*$/$0/", DUKE, DUKE),
        # Java replaces what it finds, and a pattern that fits everything fits the end once more.
        ("RULE:.*/x/", DUKE, "xx"),
        ("RULE:CN=(.*?)/$1/", "CN=Duke", "Duke"),
        (r"RULE:^CN=(.*?)(\\,.*)?$/$1/", r"CN=a\,b", "a"),
    ],
)
def test_the_first_rule_that_fits_counts(rules: str, name: str, user: str) -> None:
    assert read_mapping(rules).name_of(name) == user


def test_who_fits_no_rule_is_not_let_in() -> None:
    with pytest.raises(PermissionError, match="no rule"):
        read_mapping("RULE:^CN=(.*?),OU=Admins.*$/$1/").name_of(DUKE)


def test_a_name_without_end_is_not_looked_at() -> None:
    longest = "CN=" + "x" * 1_021
    assert read_mapping("DEFAULT").name_of(longest) == longest
    with pytest.raises(PermissionError, match="too long"):
        read_mapping("DEFAULT").name_of(longest + "x")


@pytest.mark.parametrize(
    "rules",
    [
        "default",
        "RULE:a/b",
        "RULE:a/b/X",
        "RULE:(/b/",
        "RULE:(a*)*+/b/",
        "RULE:a/${b}/",
        "RULE:a/b/L RULE:c/d/",
    ],
)
def test_rules_that_are_none_are_refused(rules: str) -> None:
    with pytest.raises(InvalidConfig, match=r"ssl\.principal\.mapping\.rules"):
        read_mapping(rules)
