"""`python -m schedlab` is `schedlab`."""

from __future__ import annotations

from schedlab.cli import main

if __name__ == "__main__":
    main()
