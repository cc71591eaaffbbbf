"""What is done is written down."""

import json
import logging
from pathlib import Path

import pytest

from moldau.console.audit import AuditTrail


def test_a_file_has_a_line_for_each(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = AuditTrail(str(path))
    audit.note("anna", "DELETE /topics/a\nb", 200, {"query": ""})
    audit.note("bob", "POST /topics", 403, {})
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert (first["actor"], first["action"], first["status"]) == (
        "anna",
        "DELETE /topics/a\nb",
        200,
    )
    assert second["status"] == 403
    assert first["at"].endswith("Z")


def test_without_a_file_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        AuditTrail().note("anna", "POST /x", 200, {})
    assert '"actor": "anna"' in caplog.text
