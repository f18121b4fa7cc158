"""Faults to inject into kubesched, and the command that demands that fuzz finds them."""
