"""Authentication and authorization: TLS, SASL exchanges, access rules."""
