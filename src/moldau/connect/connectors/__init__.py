"""The connectors that come with Moldau."""
