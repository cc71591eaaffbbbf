"""A topology is compared with its checkpoint before anything starts."""

from pathlib import Path

import pytest

from moldau.streams.compile.signatures import QuerySignature, StateSignature
from moldau.streams.run.manifest import (
    FILE,
    CannotGoOn,
    KnownQuery,
    Manifest,
    compared,
    local_directory,
)

COUNT = QuerySignature("update", ("lines",), (StateSignature("Summarize", "s: s", "s: bigint"),))
SUM = QuerySignature("update", ("lines",), (StateSignature("Summarize", "s: s", "s: double"),))
PLAIN = QuerySignature("update", ("lines",), ())


def known(**queries: QuerySignature) -> dict[str, KnownQuery]:
    return {name: KnownQuery(each, 2) for name, each in queries.items()}


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    starting = {"lines": {"0": 5}}
    written = Manifest(known(a=COUNT), starting, 4).with_queries(known(b=PLAIN))
    written.write(f"file://{tmp_path / 'checkpoint'}")
    read = Manifest.read(str(tmp_path / "checkpoint"))
    assert read == written
    assert list(read.queries) == ["a", "b"]


def test_a_checkpoint_elsewhere_has_none() -> None:
    Manifest(known(a=COUNT)).write("s3a://bucket/app")
    assert Manifest.read("s3a://bucket/app") == Manifest()
    assert local_directory("s3a://bucket/app") is None


@pytest.mark.parametrize("text", ["{", "{}", '{"version": 2}', '{"version": 1, "queries": []}'])
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(CannotGoOn, match=FILE):
        Manifest.read(str(tmp_path))


def test_queries_by_number_are_refused(tmp_path: Path) -> None:
    (tmp_path / "words-0" / "offsets").mkdir(parents=True)
    with pytest.raises(CannotGoOn, match=r"words-0.*\n?.*moldau streams reset"):
        Manifest.read(str(tmp_path))


def test_an_unrelated_flow_is_new_and_the_others_go_on() -> None:
    comparison = compared(known(counts=COUNT, old=PLAIN), {"counts": COUNT, "more": PLAIN})
    comparison.check()
    assert comparison.names == {"counts": "counts", "more": "more"}
    assert comparison.lines() == [
        "counts: goes on",
        "more: is new, and begins",
        "old: is not in the topology; its state stays",
    ]


def test_a_query_whose_sinks_changed_keeps_its_state() -> None:
    comparison = compared(known(before=COUNT), {"after": COUNT})
    assert comparison.names == {"after": "before"}
    assert (comparison.new, comparison.gone) == ((), ())


def test_of_two_that_might_be_it_none_is_taken() -> None:
    comparison = compared(known(one=COUNT, two=COUNT), {"after": COUNT})
    assert (comparison.new, comparison.gone) == (("after",), ("one", "two"))


def test_what_cannot_go_on_is_refused_with_the_ways_out() -> None:
    comparison = compared(known(counts=COUNT), {"counts": SUM})
    assert comparison.lines()[-1].startswith("counts: cannot go on: Summarize gives other types")
    with pytest.raises(CannotGoOn) as caught:
        comparison.check()
    assert str(caught.value).splitlines()[:2] == [
        "the topology has changed:",
        "  counts Summarize gives other types: it was s: bigint, and is s: double",
    ]
    assert "moldau streams reset APP.py" in str(caught.value)
    assert "--application NAME" in str(caught.value)
