"""Roles are what a file of users says, and never more than the console allows."""

from moldau.console.access import ConsoleRights, Role, TopicGrant, is_meant
from moldau.web.users import User


def test_a_user_without_a_role_may_only_look() -> None:
    assert ConsoleRights().actor(User("anna")).role is Role.VIEWER


def test_the_greatest_role_counts() -> None:
    actor = ConsoleRights().actor(User("anna", roles=("reader", "operator")))
    assert (actor.name, actor.role) == ("anna", Role.OPERATOR)


def test_a_read_only_console_caps_everybody() -> None:
    rights = ConsoleRights(is_read_only=True)
    assert rights.actor(None).role is Role.READER
    assert rights.actor(User("root", roles=("admin",))).role is Role.READER
    assert rights.actor(User("anna", roles=("viewer",))).role is Role.VIEWER


def test_requests_without_a_name_have_the_role_of_strangers() -> None:
    assert ConsoleRights(anonymous=Role.READER).actor(None).role is Role.READER


GRANTS = (
    TopicGrant(("anna", "group:ops"), Role.OPERATOR, ("orders", "pay-*")),
    TopicGrant(("group:ops",), Role.READER),
    TopicGrant(("*",), Role.ADMIN, ("play-*",)),
)


def test_roles_are_given_by_topics() -> None:
    rights = ConsoleRights(grants=GRANTS)
    anna = rights.actor(User("anna"))
    assert anna.role is Role.VIEWER
    assert anna.role_on("orders") is Role.OPERATOR
    assert anna.role_on("pay-1") is Role.OPERATOR
    assert anna.role_on("orders2") is Role.VIEWER
    assert anna.role_on("play-1") is Role.ADMIN
    ops = rights.actor(User("ben", roles=("group:ops",)))
    assert (ops.role, ops.role_on("other"), ops.role_on("orders")) == (2, 2, 3)


def test_names_and_groups_are_not_mixed_up() -> None:
    rights = ConsoleRights(grants=GRANTS)
    assert rights.actor(User("group:ops2")).role is Role.VIEWER
    assert rights.actor(User("eve", roles=("group:admin",))).role is Role.VIEWER


def test_read_only_caps_topics_too() -> None:
    anna = ConsoleRights(is_read_only=True, grants=GRANTS).actor(User("anna"))
    assert anna.role_on("orders") is Role.READER


def test_a_star_stands_for_anything_and_nothing_else_does() -> None:
    assert is_meant("a-b-c", ["x", "a-*-c"])
    assert is_meant("a", ["*"])
    for pattern in ("a", "?", "[a-c]-b", "a.b", "b*", "*-b"):
        assert not is_meant("a-b-c", [pattern]), pattern


def test_whom_the_cluster_rules_has_roles_beside_it_alone() -> None:
    grants = (TopicGrant(("anna",), Role.OPERATOR),)
    anna = ConsoleRights(grants=grants).actor(User("anna"), is_ruled_by_cluster=True)
    assert (anna.role, anna.role_beside) == (Role.ADMIN, Role.OPERATOR)
    eve = ConsoleRights(is_read_only=True).actor(User("eve"), is_ruled_by_cluster=True)
    assert (eve.role, eve.role_beside) == (Role.READER, Role.VIEWER)
    assert ConsoleRights().actor(None).role_beside is Role.ADMIN
