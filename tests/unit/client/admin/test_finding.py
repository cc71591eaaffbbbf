"""A finding says what was seen; advice only where something can be done."""

from dataclasses import asdict

from moldau.client.admin.finding import Finding


def test_a_finding_needs_no_advice() -> None:
    assert asdict(Finding(True, "all is well")) == {
        "is_well": True,
        "text": "all is well",
        "advice": "",
    }
