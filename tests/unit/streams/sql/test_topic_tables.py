"""A table is declared, or a name that Spark does not know."""

import pytest
from pyspark.errors import AnalysisException

from moldau.streams.sql.shapes import TopicShape
from moldau.streams.sql.statements import BadStatement, DeclareStream
from moldau.streams.sql.topic_tables import TopicTables, missing_table


class Missing(AnalysisException):
    """As Spark raises it."""

    def __init__(self, name: str, condition: str = "TABLE_OR_VIEW_NOT_FOUND") -> None:
        super().__init__(message="not found")
        self._name, self._condition_given = name, condition

    def getCondition(self) -> str:  # noqa: N802 - Spark's name
        return self._condition_given

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802 - Spark's name
        return {"relationName": self._name}


@pytest.mark.parametrize(("told", "name"), [("`orders`", "orders"), ("`a.b-c`", "a.b-c")])
def test_a_name_that_spark_misses_is_a_topic(told: str, name: str) -> None:
    assert missing_table(Missing(told)) == name


def test_other_errors_are_no_topics_and_dots_need_backticks() -> None:
    assert missing_table(Missing("`a`", "UNRESOLVED_COLUMN")) is None
    with pytest.raises(BadStatement, match=r"stands in backticks: `a\.b`"):
        missing_table(Missing("`a`.`b`"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"format": "avro"}, "in a registry"),
        ({"key": "xml"}, "one of text, bytes"),
        ({"colour": "red"}, "colour: WITH has"),
    ],
)
def test_what_cannot_be_declared_is_explained(settings: dict[str, str], words: str) -> None:
    tables = TopicTables({}, lambda _: TopicShape())
    with pytest.raises(BadStatement, match=words):
        tables.declare(DeclareStream("o", "id int", settings))
