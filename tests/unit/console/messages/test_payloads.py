"""Values are shown as what they are, the beginning first."""

from moldau.console.messages.payloads import hexadecimal, payload, shown


def test_nothing_is_three_things() -> None:
    assert payload(None, is_value=True)["kind"] == "tombstone"
    assert payload(None, is_value=False)["kind"] == "null"
    assert payload(b"", is_value=True)["kind"] == "empty"


def test_numbers_stay_as_they_are_written() -> None:
    found = payload(b'{"big": 9007199254740993, "x": 1.10}', is_value=True)
    assert found == {"kind": "json", "size": 36, "text": '{"big": 9007199254740993, "x": 1.10}'}


def test_what_is_no_json_is_text_and_what_is_no_text_is_bytes() -> None:
    assert payload(b"{no", is_value=True)["kind"] == "text"
    assert payload(b"[" * 9000, is_value=True)["kind"] == "text"
    found = payload(b"\xff\x00A", is_value=True)
    assert found["kind"] == "hex"
    assert found["text"] == hexadecimal(b"\xff\x00A")
    assert hexadecimal(b"\xff\x00A").split() == ["00000000", "ff", "00", "41", "..A"]


def test_a_large_value_is_cut_and_its_size_said() -> None:
    found = payload(("é" * 5000).encode(), is_value=True, limit=101)
    assert (found["size"], found["is_cut"], found["text"]) == (10_000, True, "é" * 50)
    assert payload(b"x" * 20_000_000, is_value=True)["text"] == "x" * 2048


def test_a_record_has_all_its_parts() -> None:
    row = {"partition": 1, "offset": 2**53 + 1, "timestamp": 5, "key": b"k", "value": None}
    found = shown({**row, "headers": [{"key": "h", "value": b"v"}]})
    assert found["offset"] == "9007199254740993", "a text: browsers round numbers"
    assert found["headers"] == [["h", {"kind": "text", "size": 1, "text": "v"}]]


def test_what_a_registry_makes_of_it_is_shown_beside_it() -> None:
    row = {"partition": 1, "offset": 0, "timestamp": 5, "key": b"k", "value": b"v", "headers": []}
    found = shown(row, lambda data: {"text": "read"} if data == b"v" else None)
    assert found["value"] == {
        "kind": "text",
        "size": 1,
        "text": "v",
        "registered": {"text": "read"},
    }
    assert found["key"] == {"kind": "text", "size": 1, "text": "k"}
    value = shown(row, lambda _: {"text": "x" * 5000})["value"]
    assert isinstance(value, dict)
    assert value["registered"] == {"text": "x" * 2048, "is_cut": True}


def test_of_a_thousand_headers_the_first_are_shown() -> None:
    row = {"partition": 1, "offset": 0, "timestamp": 5, "key": None, "value": None}
    found = shown({**row, "headers": [{"key": "h", "value": b"v"}] * 1000})
    assert isinstance(found["headers"], list)
    assert (len(found["headers"]), found["headers_count"]) == (100, 1000)
    listed = shown({**row, "headers": [{"key": "n" * 9000, "value": None}]})["headers"]
    assert isinstance(listed, list)
    assert listed[0][0] == "n" * 256 + "…"
