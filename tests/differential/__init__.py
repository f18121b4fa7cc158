"""Recorded decisions replayed without a cluster, and faults that fuzz must find."""
