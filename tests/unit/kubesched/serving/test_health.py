"""Health answers in the API machinery's form."""

from __future__ import annotations

import pytest

from kubesched.serving.health import Health, answer, answer_one


def test_a_process_that_has_not_seen_the_cluster_is_alive_but_not_ready():
    health = Health()
    assert answer("livez", health.checks("livez"), verbose=False) == (200, "ok")
    assert answer("healthz", health.checks("healthz"), verbose=False) == (200, "ok")
    code, body = answer("readyz", health.checks("readyz"), verbose=False)
    assert code == 500
    assert body == (
        "[+]ping ok\n[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n"
    )


def test_it_is_ready_once_it_has():
    code, body = answer("readyz", Health(synced=True).checks("readyz"), verbose=True)
    assert code == 200
    assert body == "[+]ping ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n"


def test_it_is_not_ready_while_it_shuts_down_but_still_alive():
    health = Health(synced=True, shutting_down=True)
    assert answer("readyz", health.checks("readyz"), verbose=False)[0] == 500
    assert answer("livez", health.checks("livez"), verbose=False)[0] == 200


@pytest.mark.parametrize("endpoint", ["healthz", "readyz"])
def test_leader_election_is_checked_where_upstream_checks_it(endpoint):
    health = Health(synced=True, extra={"leaderElection": lambda: "lost"})
    code, body = answer(endpoint, health.checks(endpoint), verbose=False)
    assert code == 500
    assert "[-]leaderElection failed: reason withheld" in body
    assert answer_one(health.checks(endpoint)["leaderElection"])[0] == 500
    assert answer_one(health.checks(endpoint)["ping"]) == (200, "ok")
    assert "leaderElection" not in health.checks("livez")


def test_a_check_can_be_left_out():
    checks = Health().checks("readyz")
    code, body = answer("readyz", checks, verbose=True, excluded=["sched-handler-sync", "nope"])
    assert code == 200
    assert "[+]sched-handler-sync excluded: ok" in body
    assert 'no matches for "nope"' in body
