"""What was forbidden is read off the audit log."""

from __future__ import annotations

import json

from schedlab.history.refusals import refusals


def line(verb: str, uri: str, user: str = "s", decision: str = "allow", code: int = 200) -> str:
    event = {
        "stage": "ResponseComplete",
        "verb": verb,
        "requestURI": uri,
        "user": {"username": user},
        "responseStatus": {"code": code},
        "annotations": {"authorization.k8s.io/decision": decision},
    }
    return json.dumps(event) + "\n"


def test_only_the_authorizers_refusals_of_that_user_count(tmp_path):
    """A namespace that is going away answers 403 as well, and that is no missing right."""
    log = tmp_path / "audit.log"
    log.write_text(line("list", "/before", decision="forbid", code=403))
    start = log.stat().st_size
    with log.open("a") as file:
        file.write(line("create", "/events", code=403))
        file.write(line("list", "/api/v1/secrets?limit=1", decision="forbid", code=403))
        file.write(line("list", "/api/v1/secrets?limit=2", decision="forbid", code=403))
        file.write(line("get", "/api/v1/nodes", user="other", decision="forbid", code=403))
        file.write('{"verb": "half')
    assert refusals(log, start, "s") == ["list /api/v1/secrets"]
    assert refusals(tmp_path / "none", 0, "s") == []
