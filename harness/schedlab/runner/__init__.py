"""Runs a loaded test on a control plane and says what came of it, with evidence."""
