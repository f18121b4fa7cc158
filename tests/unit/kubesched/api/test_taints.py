"""Taints and tolerations."""

from __future__ import annotations

import pytest

from kubesched.api.taints import NO_EXECUTE, NO_SCHEDULE, Taint, Toleration, find_untolerated, tolerates

GPU = Taint(key="gpu", value="true", effect=NO_SCHEDULE)


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        pytest.param(
            Toleration(key="gpu", operator="Equal", value="true", effect=NO_SCHEDULE), True, id="all equal"
        ),
        pytest.param(
            Toleration(key="gpu", value="true"), True, id="no operator means Equal, no effect means all"
        ),
        pytest.param(Toleration(key="gpu", value="false"), False, id="another value"),
        pytest.param(Toleration(key="gpu", operator="Exists"), True, id="Exists takes any value"),
        pytest.param(Toleration(operator="Exists"), True, id="no key takes every taint"),
        pytest.param(Toleration(key="cpu", operator="Exists"), False, id="another key"),
        pytest.param(Toleration(key="gpu", operator="Exists", effect=NO_EXECUTE), False, id="another effect"),
        pytest.param(Toleration(key="gpu", operator="Like", value="true"), False, id="an unknown operator"),
        pytest.param(
            Toleration(key="gpu", operator="Gt", value="1"), False, id="comparison is off by default"
        ),
    ],
)
def test_toleration_covers_taint(toleration: Toleration, covers: bool) -> None:
    """The rules of core/v1 ToleratesTaint."""
    assert tolerates(toleration, GPU) is covers


@pytest.mark.parametrize(
    ("operator", "bound", "value", "covers"),
    [
        pytest.param("Lt", "10", "9", True, id="the taint's value is less"),
        pytest.param("Gt", "10", "9", False, id="the taint's value is not more"),
        pytest.param("Gt", "010", "11", False, id="a leading zero is no integer"),
        pytest.param("Gt", "+1", "11", False, id="a plus sign is no integer"),
        pytest.param("Lt", "1", "x", False, id="a taint that is no integer"),
        pytest.param("Lt", "99999999999999999999", "1", False, id="beyond int64"),
    ],
)
def test_comparison_needs_its_gate(operator: str, bound: str, value: str, covers: bool) -> None:
    """With the gate on, the taint's integer is compared with the toleration's."""
    toleration = Toleration(key="gpu", operator=operator, value=bound)
    assert tolerates(toleration, Taint(key="gpu", value=value), comparison=True) is covers


def test_first_untolerated_taint_counts() -> None:
    """Taints of other effects are passed over."""
    taints = [Taint(key="a", effect="PreferNoSchedule"), Taint(key="b", effect=NO_SCHEDULE), GPU]
    effects = (NO_SCHEDULE, NO_EXECUTE)
    assert find_untolerated(taints, [], effects) == taints[1]
    assert find_untolerated(taints, [Toleration(key="b", operator="Exists")], effects) == GPU
    assert find_untolerated(taints, [Toleration(operator="Exists")], effects) is None


def test_taint_reads_like_kubectl() -> None:
    """Empty parts are left out."""
    assert [str(GPU), str(Taint(key="a", effect="NoExecute")), str(Taint(key="a"))] == [
        "gpu=true:NoSchedule",
        "a:NoExecute",
        "a",
    ]
