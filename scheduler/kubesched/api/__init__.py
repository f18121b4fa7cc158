"""Kubernetes objects as the scheduler reads them: typed, immutable, pure; no I/O, no clock."""
