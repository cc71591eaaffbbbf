"""Topics as Apache Arrow tables: what `moldau[arrow]` adds to the clients."""
