"""How long a broker believes who a client has said it is."""

from moldau.client.connection.login_session import NO_END, LoginSession


def test_a_session_is_due_at_its_time() -> None:
    assert not NO_END.is_due(now_ms=2**62)
    assert not LoginSession(10).is_due(now_ms=9)
    assert LoginSession(10).is_due(now_ms=10)
