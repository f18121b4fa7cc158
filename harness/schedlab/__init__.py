"""schedlab: a laboratory that runs YAML suites against any Kubernetes scheduler."""
