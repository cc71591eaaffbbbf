"""Setting values as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.config.rules import Value
from moldau.config.values import HIDDEN, ConfigType, Password, parse, to_text
from moldau.errors import InvalidConfig


@pytest.mark.parametrize(
    ("config_type", "text", "value"),
    [
        (ConfigType.BOOLEAN, " TRUE\t", True),
        (ConfigType.BOOLEAN, "false", False),
        (ConfigType.INT, "+7", 7),
        (ConfigType.INT, "-2147483648", -(2**31)),
        (ConfigType.SHORT, "32767", 32767),
        (ConfigType.LONG, " 9223372036854775807 ", 2**63 - 1),
        (ConfigType.DOUBLE, "1e6", 1e6),
        (ConfigType.DOUBLE, ".5", 0.5),
        (ConfigType.LIST, "a , b,c", ("a", "b", "c")),
        (ConfigType.LIST, "  ", ()),
        (ConfigType.STRING, " a b ", "a b"),
        (ConfigType.CLASS, "org.Example", "org.Example"),
    ],
)
def test_a_text_is_read_as_its_type(config_type: ConfigType, text: str, value: object) -> None:
    assert parse("key", config_type, text) == value


@pytest.mark.parametrize(
    ("config_type", "text"),
    [
        (ConfigType.BOOLEAN, "1"),
        (ConfigType.INT, "1_000"),
        (ConfigType.INT, "2147483648"),
        (ConfigType.INT, ""),
        (ConfigType.INT, "٣"),
        (ConfigType.INT, "9" * 5000),
        (ConfigType.SHORT, "32768"),
        (ConfigType.LONG, "1.0"),
        (ConfigType.DOUBLE, "nan"),
        (ConfigType.DOUBLE, "half"),
    ],
)
def test_a_text_of_another_type_is_refused_by_name(config_type: ConfigType, text: str) -> None:
    with pytest.raises(InvalidConfig, match="for configuration key: must be "):
        parse("key", config_type, text)


@given(
    st.one_of(
        st.tuples(st.just(ConfigType.BOOLEAN), st.booleans()),
        st.tuples(st.just(ConfigType.INT), st.integers(-(2**31), 2**31 - 1)),
        st.tuples(st.just(ConfigType.LONG), st.integers(-(2**63), 2**63 - 1)),
        st.tuples(st.just(ConfigType.DOUBLE), st.floats(allow_nan=False, allow_infinity=False)),
        st.tuples(st.just(ConfigType.LIST), st.lists(st.from_regex(r"\A[a-z]+\Z")).map(tuple)),
        st.tuples(st.just(ConfigType.PASSWORD), st.from_regex(r"\A[a-z]+\Z").map(Password)),
    )
)
def test_what_is_written_reads_back(typed: tuple[ConfigType, Value]) -> None:
    config_type, value = typed
    text = to_text(value)
    assert text is not None
    assert parse("key", config_type, text) == value


def test_java_writes_large_doubles_its_own_way() -> None:
    assert to_text(1.7976931348623157e308) == "1.7976931348623157E308"
    assert to_text(None) is None


def test_a_password_is_not_printed() -> None:
    secret = parse("key", ConfigType.PASSWORD, "hush")
    assert isinstance(secret, Password)
    assert {str(secret), repr(secret), f"{secret}", "%s" % secret} == {HIDDEN}  # noqa: UP031
    assert secret.reveal() == "hush"
    assert json.dumps(secret.reveal()) == '"hush"'


LONG = 200_000


@pytest.mark.parametrize(
    "text", ["9" * LONG + "x", "." + "9" * LONG + "x", "1e" + "9" * LONG + "x"]
)
def test_a_long_text_is_not_tried_as_a_number_over_and_over(text: str) -> None:
    """Clients send settings of topics: what takes a square of the length would hold a broker."""
    with pytest.raises(InvalidConfig):
        parse("name", ConfigType.DOUBLE, text)


def test_a_long_row_of_blanks_in_a_list_is_not_tried_over_and_over() -> None:
    blanks = " " * LONG
    assert parse("name", ConfigType.LIST, f"a{blanks}b{blanks},{blanks}c") == (f"a{blanks}b", "c")


@pytest.mark.parametrize("text", ["1", "1.", "1.5", ".5", "-1.5e10", "+1E-5", "1e5"])
def test_doubles_are_written_in_many_ways(text: str) -> None:
    assert parse("name", ConfigType.DOUBLE, text) == float(text)


@pytest.mark.parametrize("text", [".", "1.2.3", "e5", "1e", "0x1", "1_0", "inf", "nan", ""])
def test_other_texts_are_no_doubles(text: str) -> None:
    with pytest.raises(InvalidConfig):
        parse("name", ConfigType.DOUBLE, text)
