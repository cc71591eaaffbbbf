"""Refusals have the shape that clients of Kafka's REST interfaces read."""

from moldau.web.errors import WebError


def test_a_code_of_its_own_is_said_beside_the_status() -> None:
    error = WebError(404, "Subject 'a' not found.", 40401)
    assert error.status == 404
    assert error.body() == {"error_code": 40401, "message": "Subject 'a' not found."}


def test_without_one_the_status_is_the_code() -> None:
    assert WebError(405, "no").body()["error_code"] == 405
