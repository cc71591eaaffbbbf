"""Roles are what a file of users says, and never more than the console allows."""

from moldau.console.access import ConsoleRights, Role
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
