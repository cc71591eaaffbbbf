"""Errors have the names that Connect's tools look for."""

from moldau.connect.errors import DataError, java_class_of


def test_an_error_of_ours_has_javas_name_and_others_their_own() -> None:
    assert java_class_of(DataError("x")) == "org.apache.kafka.connect.errors.DataException"
    assert java_class_of(ValueError("x")) == "builtins.ValueError"
