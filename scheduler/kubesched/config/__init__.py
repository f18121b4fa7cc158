"""KubeSchedulerConfiguration v1: types, defaults, strict loading, feature gates."""
