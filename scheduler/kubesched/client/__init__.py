"""The scheduler's way to the API server: credentials, requests, watches, events, leases."""
