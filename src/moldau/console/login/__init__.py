"""Logins that another server does: OpenID Connect, and the sessions that come of them."""
