"""Random cluster states, played on the reference and asked of a scheduler under test."""
