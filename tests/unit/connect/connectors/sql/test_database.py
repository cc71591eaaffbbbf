"""Names in statements, and addresses that may be shown."""

from moldau.connect.connectors.sql.database import quoted, quoted_table, without_password


def test_names_cannot_break_out_of_a_statement() -> None:
    assert quoted('a"; DROP TABLE x; --') == '"a""; DROP TABLE x; --"'
    assert quoted("a.b") == '"a.b"', "a column, as Flatten names it"
    assert quoted_table("s.t") == '"s"."t"'


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("postgresql://u:secret@h/d?password=x") == "postgresql://h/d"
    assert without_password("sqlite:/a/b?c") == "sqlite:/a/b"
