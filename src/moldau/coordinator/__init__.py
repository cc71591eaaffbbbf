"""Groups and transactions: state that lives in compacted internal topics."""
