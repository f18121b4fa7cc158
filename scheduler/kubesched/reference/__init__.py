"""Reference pages that are made from the code, so that they cannot be wrong for long.

`python -m kubesched.reference api` prints docs/api.md, `… configuration` prints docs/configuration.md.
"""
