"""Faults between a scheduler and the API server, made by a proxy that it cannot tell from the server."""
