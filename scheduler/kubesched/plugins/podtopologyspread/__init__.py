"""PodTopologySpread: keep the number of matching pods even over the domains of a topology."""
