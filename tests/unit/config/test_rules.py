"""Rules: what a setting allows beyond its type."""

from moldau.config import rules


def test_ranges_include_their_bounds() -> None:
    rule = rules.between(1, 9)
    assert [rule.accepts(number) for number in (0, 1, 9, 10)] == [False, True, True, False]
    assert rules.at_least(0).accepts(0)
    assert not rules.at_least(0).accepts(-1)


def test_every_element_of_a_list_must_be_a_choice() -> None:
    rule = rules.one_of("compact", "delete")
    assert rule.accepts(("compact", "delete"))
    assert rule.accepts(())
    assert not rule.accepts(("compact", "x"))
    assert not rule.accepts("Compact")


def test_some_choices_take_any_case() -> None:
    rule = rules.one_of_any_case("UPGRADE", "DOWNGRADE")
    assert rule.accepts("Upgrade")
    assert not rule.accepts("grade")
    assert "UPGRADE, DOWNGRADE" in rule.allowed


def test_no_value_is_not_an_empty_string() -> None:
    assert rules.not_empty().accepts(None)
    assert rules.not_empty().accepts("a")
    assert not rules.not_empty().accepts("")


def test_either_rule_may_hold() -> None:
    rule = rules.either(rules.between(1, 9), rules.exactly(-1), "[1,...,9] or -1")
    assert rule.allowed == "between 1 and 9, or -1"
    assert [rule.accepts(number) for number in (-1, 0, 1)] == [True, False, True]
