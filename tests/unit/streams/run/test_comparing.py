"""A topology is compared with a checkpoint without running."""

import os
import sys
from pathlib import Path

import pytest

from moldau.streams.compile.signatures import QuerySignature, StateSignature
from moldau.streams.run.app import load_app
from moldau.streams.run.comparing import compare
from moldau.streams.run.manifest import KnownQuery, Manifest

APP = """
from moldau.streams import StreamsBuilder

builder = StreamsBuilder()
builder.stream("unrelated").to("elsewhere")
builder.stream("lines").group_by_key().count(store="counts").to_stream().to("output")
builder.table("users").group_by(lambda key, value: (value, key)).count(store="towns")
topology = builder.build()
"""


@pytest.mark.needs("java")
def test_what_would_go_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    (tmp_path / "app.py").write_text(APP)
    count = StateSignature("Summarize", "string: string", "string: bigint", "", "count")
    known = QuerySignature("update", ("lines",), (count,))
    other = QuerySignature("update", ("users",), (count,))
    queries = {"app-counts": KnownQuery(known, 1), "app-towns": KnownQuery(other, 1)}
    Manifest(queries).write(str(tmp_path))
    comparison = compare(load_app(str(tmp_path / "app.py")), str(tmp_path))
    assert comparison.lines() == [
        "app-counts: goes on",
        "app-unrelated-to-elsewhere: is new, and begins",
        "app-towns: cannot go on: its steps with state are Summarize, Changes, and were Summarize",
    ]
