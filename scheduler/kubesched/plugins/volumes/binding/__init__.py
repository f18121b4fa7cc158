"""VolumeBinding: claims and volumes find each other where the pod goes."""
