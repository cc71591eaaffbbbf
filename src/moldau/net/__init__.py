"""Sockets on asyncio: listeners, framed connections."""
