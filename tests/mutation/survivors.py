"""Changes that no test can notice, or need not, each with its reason."""

# module -> the change as bin/mutate prints it -> why it may survive
REASONS: dict[str, dict[str, str]] = {
    "records/validate.py": {
        (
            "_require_single: len(records) > size and entry_at(records, size) is not None"
            " -> entry_at(records, size) is not None"
        ): "equivalent: there is no entry at the end either; saves a call",
        "_require_single: len(records) > size -> len(records) >= size": (
            "equivalent: there is no entry at the end either"
        ),
        "_validate_batch: return _accept(data, header, rules, now_ms, is_rebuilt=False) -> pass": (
            "equivalent: the same header is read once more"
        ),
        "_check_section: max_timestamp < NO_TIMESTAMP -> max_timestamp <= NO_TIMESTAMP": (
            "equivalent: it is set to what it is"
        ),
        "_check_section: 0 -> 1": "equivalent: nobody looks at the offsets of these rows",
    },
}
