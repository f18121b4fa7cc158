"""Durations that could give two leaders are refused, with upstream's texts."""

from __future__ import annotations

import pytest

from kubesched.leaderelection import ElectionSettings


@pytest.mark.parametrize(
    ("lease", "renew", "retry", "identity", "text"),
    [
        pytest.param(10, 10, 2, "a", "leaseDuration must be greater than renewDeadline", id="lease as renew"),
        pytest.param(
            15,
            2.4,
            2,
            "a",
            r"renewDeadline must be greater than retryPeriod\*JitterFactor",
            id="a jittered retry may take the whole deadline",
        ),
        pytest.param(15, 0, -1, "a", "renewDeadline must be greater than zero", id="renew deadline zero"),
        pytest.param(15, 10, 0, "a", "retryPeriod must be greater than zero", id="retry period zero"),
        pytest.param(0.9, 0.5, 0.1, "a", "at least one second", id="a lease cannot store less than a second"),
        pytest.param(15, 10, 2, "", "Lock identity is empty", id="no identity"),
    ],
)
def test_invalid_settings(lease: float, renew: float, retry: float, identity: str, text: str) -> None:
    """client-go's TestLeaderElectionConfigValidation, and what it leaves to the API server."""
    with pytest.raises(ValueError, match=text):
        ElectionSettings(identity, lease_duration=lease, renew_deadline=renew, retry_period=retry)


def test_defaults_are_kube_schedulers() -> None:
    """15, 10 and 2 seconds; a request may take half the deadline."""
    settings = ElectionSettings("a")
    assert (settings.lease_duration, settings.renew_deadline, settings.retry_period) == (15, 10, 2)
    assert (settings.lease_seconds, settings.request_timeout, settings.write_window) == (15, 5, 10)


def test_a_fraction_of_a_second_is_lost_to_the_lease_and_not_to_safety() -> None:
    """Others read 10 s and may take over then: writing ends no later."""
    settings = ElectionSettings("a", lease_duration=10.9, renew_deadline=10.5)
    assert (settings.lease_seconds, settings.write_window) == (10, 10)


def test_short_deadlines_still_leave_a_request_a_second() -> None:
    """Upstream's floor for the client timeout."""
    settings = ElectionSettings("a", lease_duration=2, renew_deadline=1.5, retry_period=0.5)
    assert settings.request_timeout == 1.0
