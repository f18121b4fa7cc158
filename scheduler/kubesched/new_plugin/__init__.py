"""A new plugin's project: a directory that tests, lints and runs as it stands."""
