"""Several brokers on one machine under one process, with the tree that they agree on."""
