"""Making room: which pods would have to go from which node, and which node is best."""
