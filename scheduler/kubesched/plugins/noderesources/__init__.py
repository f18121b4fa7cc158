"""NodeResourcesFit and NodeResourcesBalancedAllocation: do resources suffice, and how well are they used."""
