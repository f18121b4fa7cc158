"""Schedulers under test: declared in a file, started as processes, known only by their API and their log.

A scheduler of one's own is one `kind: Scheduler` file; the two built-in ones are such files, in
`manifests/schedulers`. `declaration.declared` finds one, `running.start` runs it.
"""
