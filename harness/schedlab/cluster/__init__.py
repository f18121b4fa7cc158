"""Control planes to test on: the programs, the processes, the fake nodes."""
