"""The content types of patches: how the API server merges what it is given."""

from __future__ import annotations

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
