"""Growing delays."""

from __future__ import annotations

from random import Random

from kubesched.client.backoff import Backoff


def test_delays_double_up_to_a_bound_and_start_again_after_a_reset():
    backoff = Backoff(Random(1), first=1, most=4, jitter=0)
    assert [backoff.delay() for _ in range(4)] == [1, 2, 4, 4]
    backoff.reset()
    assert backoff.delay() == 1


def test_jitter_stretches_a_delay_by_at_most_itself():
    delays = {Backoff(Random(seed)).delay() for seed in range(50)}
    assert len(delays) > 40
    assert all(0.8 <= delay <= 1.6 for delay in delays)
