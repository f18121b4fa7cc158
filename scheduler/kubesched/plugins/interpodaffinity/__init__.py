"""InterPodAffinity: where pods want to be near, or away from, other pods."""
