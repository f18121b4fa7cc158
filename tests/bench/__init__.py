"""How fast the pure core and explain are, without an API server. CPU time, since machines are shared."""
