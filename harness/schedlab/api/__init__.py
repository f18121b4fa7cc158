"""The harness's own way to the API server: plain objects over the official client's transport.

The official client's models are left aside on purpose: they drop what they do not know, and cost hundreds of
microseconds an object. What is used is its kubeconfig and credential loading and its HTTP transport.
"""

from __future__ import annotations

from schedlab.api.discovery import Resource
from schedlab.api.errors import ApiError
from schedlab.api.objects import Object, Ref, kind_key, ref_of

__all__ = ["ApiError", "Object", "Ref", "Resource", "kind_key", "ref_of"]
