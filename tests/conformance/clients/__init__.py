"""Clients in other languages: built once into the cache, then run by the tests beside."""
