"""What the registry knows of Avro, JSON Schema and Protobuf: no I/O, no state."""
