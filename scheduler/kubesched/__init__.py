"""kubesched: kube-scheduler 1.36 in Python, a drop-in with the same decisions."""
