"""What a login comes to."""

from moldau.broker.login.identity import Identity


def test_a_user_with_a_password_stays_for_as_long_as_it_likes() -> None:
    assert Identity("anna") == ("anna", False, None)
