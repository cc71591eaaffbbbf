"""Who somebody is and what they may do: TLS, SASL exchanges, access rules."""
