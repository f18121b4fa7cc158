"""Every switch of KubeSchedulerConfiguration, one by one, against kube-scheduler."""
