"""The registry's REST interface."""
