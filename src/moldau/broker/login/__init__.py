"""Who clients are: the SASL gate of a listener, users, delegation tokens, bearer tokens."""
