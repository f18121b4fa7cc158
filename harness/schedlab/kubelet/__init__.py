"""What a kubelet does about pressure on its node, for fake nodes: it watches usage, reports, and evicts."""
