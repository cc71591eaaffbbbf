"""The few statements of the log that say something of rows: `TRUNCATE TABLE`."""

import re

from moldau.connect.connectors.capture.tables import TableName

_NAME = r"(?:`((?:[^`]|``)+)`|([\w$]+))"
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TRUNCATE = re.compile(
    rf"\s*TRUNCATE\s+(?:TABLE\s+)?(?:{_NAME}\s*\.\s*)?{_NAME}\s*;?.*", re.IGNORECASE | re.DOTALL
)


def truncated_table(statement: str, database: str) -> TableName | None:
    """The table that a statement empties, if it does; `database` is what it was used with."""
    if "truncate" not in statement[:200].lower():
        return None
    found = _TRUNCATE.fullmatch(_COMMENT.sub("", statement))
    if found is None:
        return None
    quoted_database, plain_database, quoted_table, plain_table = found.groups()
    named = quoted_database or plain_database or database
    return TableName(*(each.replace("``", "`") for each in (named, quoted_table or plain_table)))
