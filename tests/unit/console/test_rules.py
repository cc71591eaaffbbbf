"""The file of rules says what it means, or is refused with the place of the mistake."""

import pytest

from moldau.console.access import Role, TopicGrant
from moldau.console.masking import MaskRule
from moldau.console.rules import ConsoleRules, RulesError, read_rules

TEXT = """
[[role]]
who = ["anna", "group:ops"]
role = "operator"
topics = ["orders", "payments-*"]

[[role]]
who = ["*"]
role = "reader"

[[mask]]
topics = ["payments-*"]
paths = ["value.card.number", 'value."a.b".*', "key", "headers.token"]
"""
PATHS = (("value", "card", "number"), ("value", "a.b", "*"), ("key",), ("headers", "token"))


def test_roles_and_masks_are_read() -> None:
    assert read_rules(TEXT) == ConsoleRules(
        (
            TopicGrant(("anna", "group:ops"), Role.OPERATOR, ("orders", "payments-*")),
            TopicGrant(("*",), Role.READER),
        ),
        (MaskRule(("payments-*",), PATHS),),
    )
    assert read_rules("") == ConsoleRules()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[role]", "Expected"),
        ("[role]", "role: write"),
        ("role = 1", "role: write"),
        ("[[roles]]", "roles: there are"),
        ("[[role]]\nwho=['a']\nrole='god'", "role 1: role is one of"),
        ("[[role]]\nrole='admin'", "role 1: who is a list"),
        ("[[role]]\nwho='anna'\nrole='admin'", "role 1: who is a list"),
        ("[[role]]\nwho=['a']\nrole='admin'\ntopic=['t']", "role 1: topic means nothing"),
        ("[[role]]\nwho=['a']\nrole='admin'\ntopics=[]", "role 1: topics is a list"),
        ("[[mask]]\ntopics=['t']\npaths=['user']", "mask 1: 'user' does not begin with"),
        ("[[mask]]\ntopics=['t']\npaths=['headers']", "mask 1: 'headers' names no header"),
        ("[[mask]]\ntopics=['t']\npaths=['value..a']", "mask 1: 'value..a'"),
        ("[[mask]]\npaths=['value.a']", "mask 1: topics is a list"),
    ],
)
def test_mistakes_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises(RulesError) as refused:
        read_rules(text)
    assert message in str(refused.value)
