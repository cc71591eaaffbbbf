"""The text of JSON, as short as it can be."""

import json
from collections.abc import Callable
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]

quoted: Callable[[str], str] = encode_basestring
"""A text between quotes; what is no ASCII stays as it is."""


def _text() -> Callable[[object], str]:
    encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    if c_make_encoder is None:
        return encoder.encode
    # What `encode` makes for each value, made once.
    write = c_make_encoder(None, encoder.default, quoted, None, ":", ",", False, False, False)
    return lambda stored: "".join(write(stored, 0))


json_text = _text()
"""ValueError for numbers that JSON does not have."""
