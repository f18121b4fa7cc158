"""The operations of a test: one module each.

A module's class is the whole definition: its fields are the schema, its docstring is the page of the
reference.
"""

from __future__ import annotations

from schedlab.operations.base import Action, Assertion, Met, Never, NotYet, Operation, Outcome

__all__ = ["Action", "Assertion", "Met", "Never", "NotYet", "Operation", "Outcome"]
