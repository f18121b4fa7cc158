"""Log lines in klog's text and in JSON."""

from __future__ import annotations

import io
import json
import logging
import re

import pytest

from kubesched import logs


@pytest.fixture
def written():
    """The stream of a freshly configured log; logging is put back afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("kubesched")
    before = root.handlers[:], root.level, ours.level

    def configure(**options) -> io.StringIO:
        stream = io.StringIO()
        logs.configure(stream=stream, **options)
        return stream

    yield configure
    root.handlers[:], root.level = before[0], before[1]
    ours.setLevel(before[2])
    logging.getLogger("kubesched.binding").setLevel(logging.NOTSET)


def test_text_lines_are_klogs(written):
    stream = written()
    logs.get("kubesched.x").info("Bound pod", pod="ns/p", count=3, ok=True, note='say "hi"\nto all')
    line = stream.getvalue()
    assert re.match(r"I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\] \"Bound pod\" ", line)
    assert line.endswith('pod="ns/p" count=3 ok=true note="say \\"hi\\"\\nto all"\n')
    assert line.count("\n") == 1, "nothing that a tenant writes can start a new line"


def test_errors_carry_the_error(written):
    stream = written()
    log = logs.get("kubesched.x")
    log.error("Failed", ValueError("boom"), pod="p")  # noqa: PLE1205 - our own logger: that is the error
    assert stream.getvalue().startswith("E")
    assert 'err="boom" pod="p"' in stream.getvalue()


def test_json_lines_are_one_object_each(written):
    stream = written(style="json", verbosity=3)
    log = logs.get("kubesched.x")
    log.info("a", v=3, pod="p")
    log.error("b", KeyError())  # noqa: PLE1205 - our own logger: the second argument is the error
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["msg"], first["v"], first["pod"]) == ("a", 3, "p")
    assert first["caller"].startswith("test_logs.py:")
    assert (second["msg"], second["err"]) == ("b", "KeyError")
    assert "v" not in second


@pytest.mark.parametrize(("verbosity", "seen"), [(0, 1), (2, 2), (4, 3)])
def test_verbosity_filters(written, verbosity, seen):
    stream = written(verbosity=verbosity)
    log = logs.get("kubesched.x")
    for level in (0, 2, 4):
        log.info("line", v=level)
    assert len(stream.getvalue().splitlines()) == seen
    assert log.enabled(verbosity)
    assert not log.enabled(verbosity + 1)


def test_vmodule_raises_one_module(written):
    stream = written(vmodule=("binding=5",))
    logs.get("kubesched.binding").info("seen", v=5)
    logs.get("kubesched.queue").info("hidden", v=5)
    assert "seen" in stream.getvalue()
    assert "hidden" not in stream.getvalue()


def test_plain_logging_is_formatted_alike(written):
    stream = written()
    logging.getLogger("kubesched.plain").info("hello %s", "you")
    error = RuntimeError("boom")
    logging.getLogger("kubesched.plain").error("failed", exc_info=error)
    assert '"hello you"' in stream.getvalue()
    assert "RuntimeError: boom" in stream.getvalue()


def test_json_shows_objects_in_two_fields_and_text_in_one(written):
    stream = written(style="json")
    logs.get("kubesched.x").info("Bound", pod="ns/p", node="n/1")
    line = json.loads(stream.getvalue())
    assert line["pod"] == {"name": "p", "namespace": "ns"}
    assert line["node"] == "n/1"


@pytest.mark.parametrize(("style", "apart"), [("text", 2), ("json", 1)])
def test_split_streams_keep_errors_apart(written, capsys, style, apart):
    """klog's text has warnings among the errors, zap's JSON has them not."""
    stream = written(style=style, split=True)
    log = logs.get("kubesched.x")
    log.info("a")
    log.warning("b")
    log.error("c")
    assert len(stream.getvalue().splitlines()) == apart
    assert len(capsys.readouterr().out.splitlines()) == 3 - apart


@pytest.mark.parametrize("style", ["text", "json"])
def test_lines_go_to_stderr_by_default(written, capsys, style):
    written()
    logs.configure(style=style)
    logs.get("kubesched.x").info("a")
    out, err = capsys.readouterr()
    assert not out
    assert "a" in err


def test_the_verbosity_can_be_changed_while_running(written):
    stream = written(verbosity=1)
    logs.set_verbosity(4)
    logs.get("kubesched.x").info("now", v=4)
    assert "now" in stream.getvalue()
