"""ImageLocality: a node that has the pod's large images already is better, unless many nodes have them.

Follows upstream `imagelocality/image_locality.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import ClassVar

import numpy as np

from kubesched.api.objects import Pod
from kubesched.framework import MAX_SCORE, Cycle, Handle, Points, View
from kubesched.state.images import ImageState

_MIB = 1024 * 1024
_SMALLEST = 23 * _MIB
_LARGEST_PER_CONTAINER = 1000 * _MIB


class ImageLocality:
    """Scores by the size of the pod's images on the node, each scaled by the share of nodes that have it."""

    name: ClassVar[str] = "ImageLocality"

    def __init__(self, handle: Handle) -> None:
        self._cluster = handle.cluster

    def sign(self, pod: Pod) -> Hashable:
        """The images decide, the number of containers that share them, and the number of nodes."""
        containers = len(pod.spec.init_containers) + len(pod.spec.containers)
        return (*_image_names(pod), containers, len(self._cluster.nodes))

    def score(self, cycle: Cycle, view: View) -> Points:
        """One answer per distinct set of images, between the thresholds scaled to 0..100."""
        pod, nodes = cycle.pod, cycle.cluster.nodes
        wanted = _image_names(pod)
        answers = np.zeros(nodes.image_class_count + 1, np.int64)
        total = len(nodes)
        for number, images in nodes.image_classes:
            answers[number] = _sum(wanted, images, total)
        if not answers.any():
            return np.zeros(len(view), np.int64)
        scaled = _scaled(answers, len(pod.spec.init_containers) + len(pod.spec.containers))
        return scaled[nodes.images.take(view.rows)]


def _image_names(pod: Pod) -> list[str]:
    """The images of containers and image volumes, with the tag that is meant where none is given."""
    spec = pod.spec
    named = [container.image for container in (*spec.init_containers, *spec.containers)]
    named += [volume.image.reference for volume in spec.volumes if volume.image is not None]
    return [name if name.rfind(":") > name.rfind("/") else f"{name}:latest" for name in named]


def _sum(wanted: list[str], images: Mapping[str, ImageState], nodes: int) -> int:
    """The bytes of the images that are there; the division comes first, as in the reference."""
    present = (images[name] for name in wanted if name in images)
    return sum(int(float(image.size) * (float(image.nodes) / float(nodes))) for image in present)


def _scaled(sums: Points, containers: int) -> Points:
    """Image volumes count in the sum but not in the upper threshold."""
    largest = _LARGEST_PER_CONTAINER * containers
    clipped = np.where(sums < _SMALLEST, _SMALLEST, np.minimum(sums, largest))
    return MAX_SCORE * (clipped - _SMALLEST) // (largest - _SMALLEST)


def build(_args: object, handle: Handle) -> ImageLocality:
    """Build the plugin."""
    return ImageLocality(handle)
