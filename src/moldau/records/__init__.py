"""Record batches: formats, checksums, compression, columns."""
