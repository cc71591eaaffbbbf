"""Topics, groups' offsets and heartbeats from another Kafka, as MirrorMaker 2 copies them."""
