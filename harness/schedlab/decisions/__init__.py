"""What a scheduler decided for one pod, as seen from outside, and how two answers differ."""
