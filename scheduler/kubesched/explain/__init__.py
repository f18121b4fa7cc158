"""Why a pod goes where it goes, or nowhere: the answer of `kubesched explain`.

It calls the same search, ranking and preemption as the live cycle, on all nodes.
"""

from kubesched.explain.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
