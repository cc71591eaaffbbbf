"""People are known by passwords, programs by tokens."""

import base64

import pytest

from moldau.web.users import User, UserFileError, Users, hash_password

LINES = """
# people
anna: secret
bob: with:colon , read-only
bearer ci: 0d6f2c40, read-only
""".splitlines()


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def test_a_password_says_who_it_is() -> None:
    users = Users(LINES)
    assert users.authenticate(basic("anna", "secret")) == User("anna")
    assert users.authenticate(basic("bob", "with:colon")) == User("bob", is_read_only=True)


def test_a_token_says_which_program_it_is() -> None:
    assert Users(LINES).authenticate("Bearer 0d6f2c40") == User("ci", is_read_only=True)


@pytest.mark.parametrize(
    "header",
    [
        basic("anna", "wrong"),
        basic("nobody", "secret"),
        basic("ci", "0d6f2c40"),
        "Bearer secret",
        "Bearer",
        "Basic !!!",
        "Basic /w==",
        "Digest secret",
        "",
    ],
)
def test_others_are_nobody(header: str) -> None:
    assert Users(LINES).authenticate(header) is None


def test_a_hash_stands_for_its_password_and_for_no_other() -> None:
    hashed = hash_password("secret")
    assert "secret" not in hashed
    users = Users([f"anna: {hashed}"])
    for _ in range(2):  # the second time it is remembered
        assert users.authenticate(basic("anna", "secret")) == User("anna")
    assert users.authenticate(basic("anna", "Secret")) is None


def test_a_damaged_hash_lets_nobody_in() -> None:
    assert Users(["anna: scrypt:x"]).authenticate(basic("anna", "")) is None


@pytest.mark.parametrize("line", ["anna", "anna:", ": secret", "anna: secret, admin"])
def test_a_line_that_says_nothing_is_refused_without_the_secret(line: str) -> None:
    with pytest.raises(UserFileError, match="line 2") as refused:
        Users(["# who", line])
    assert "secret" not in str(refused.value)


def test_secrets_are_not_shown() -> None:
    assert "secret" not in repr(vars(Users(LINES)))


def test_an_application_has_roles_of_its_own() -> None:
    users = Users(["anna: secret, admin, reader"], ("reader", "admin"))
    found = users.authenticate(basic("anna", "secret"))
    assert found is not None
    assert (found.roles, found.is_read_only) == (("admin", "reader"), False)
    with pytest.raises(UserFileError, match="`name: password, admin`"):
        Users(["anna: secret, read-only"], ("reader", "admin"))
