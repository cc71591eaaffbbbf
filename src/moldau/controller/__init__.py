"""The controller: who leads what, decided by one broker for all."""
