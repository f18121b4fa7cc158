"""Health answers in the API machinery's form."""

from __future__ import annotations

import pytest

from kubesched.serving.health import Health, answer, answer_one


def test_a_process_that_has_not_seen_the_cluster_is_alive_but_not_ready():
    health = Health()
    assert answer(health, "livez", verbose=False) == (200, "ok")
    assert answer(health, "healthz", verbose=False) == (200, "ok")
    code, body = answer(health, "readyz", verbose=False)
    assert code == 500
    assert body == ("[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n")


def test_it_is_ready_once_it_has():
    code, body = answer(Health(synced=True), "readyz", verbose=True)
    assert code == 200
    assert body == "[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n"


def test_it_is_not_ready_while_it_shuts_down_but_still_alive():
    health = Health(synced=True, shutting_down=True)
    assert answer(health, "readyz", verbose=False)[0] == 500
    assert answer(health, "livez", verbose=False)[0] == 200


@pytest.mark.parametrize("endpoint", ["healthz", "readyz"])
def test_leader_election_is_checked_where_upstream_checks_it(endpoint):
    health = Health(synced=True, extra={"leaderElection": lambda: "lost"})
    code, body = answer(health, endpoint, verbose=False)
    assert code == 500
    assert "[-]leaderElection failed: reason withheld" in body
    assert answer_one(health, endpoint, "leaderElection")[0] == 500
    assert answer_one(health, "livez", "ping") == (200, "ok")
    assert "leaderElection" not in health.checks("livez")


def test_a_check_can_be_left_out():
    code, body = answer(Health(), "readyz", verbose=True, excluded=["sched-handler-sync", "nope"])
    assert code == 200
    assert "[+]sched-handler-sync excluded: ok" in body
    assert 'no matches for "nope"' in body


def test_what_checks_answered_is_counted_but_for_ping():
    health = Health()
    answer(health, "readyz", verbose=False)
    health.synced = True
    answer(health, "readyz", verbose=False)
    answer(health, "livez", verbose=False)
    assert health.latest == {("shutdown", "readyz"): True, ("sched-handler-sync", "readyz"): True}
    assert health.results == {
        ("shutdown", "readyz", "success"): 2,
        ("sched-handler-sync", "readyz", "error"): 1,
        ("sched-handler-sync", "readyz", "success"): 1,
    }
