"""Rules for names that configuration refers to: qualified names, label keys, extended resources.

Follows `apimachinery/pkg/util/validation` and `pkg/apis/core/v1/helper`.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")


def camel(snake: str) -> str:
    """`post_filter` is `postFilter` in the file."""
    head, *tail = snake.split("_")
    return head + "".join(word.capitalize() for word in tail)


def is_qualified(name: str) -> bool:
    """Whether a name is `name` or `dns.prefix/name`, of at most 63 and 253 characters."""
    prefix, slash, bare = name.rpartition("/")
    if slash and (len(prefix) > 253 or not _DNS_SUBDOMAIN.match(prefix)):
        return False
    return len(bare) <= 63 and _NAME.match(bare) is not None


def is_extended_resource(name: str) -> bool:
    """Whether a resource is outside Kubernetes' own domain, such as `nvidia.com/gpu`."""
    native = "/" not in name or "kubernetes.io/" in name
    return not native and not name.startswith("requests.") and is_qualified(f"requests.{name}")
