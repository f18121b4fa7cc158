"""Two schedulers side by side: what they decide otherwise, sorted by cause."""
