"""The commands answer people: what they did, or what is wrong and what to do about it."""

import os

import pytest
from click.testing import CliRunner

from schedlab.cluster import commands
from schedlab.cluster.layout import Layout
from schedlab.cluster.processes import Identity
from schedlab.cluster.state import ProcessRecord, Registry, new_record
from schedlab.cluster.versions import LOCAL_BACKEND, PROGRAMS

ME = Identity.of(os.getpid())


@pytest.fixture
def call():
    """Runs a command and returns its result."""

    def run(command, *arguments):
        return CliRunner().invoke(getattr(commands, command), [str(one) for one in arguments])

    return run


@pytest.fixture
def running(tmp_path):
    """A recorded background control plane that has a log and a kubeconfig; its one process is this one."""
    layout = Layout(directory=tmp_path / "run", private=tmp_path / "private")
    (layout.directory / "logs").mkdir(parents=True)
    layout.log("etcd").write_text("line one\nline two\n")
    layout.kubeconfig("admin").parent.mkdir(parents=True)
    layout.kubeconfig("admin").write_text("kind: Config\n")
    record = new_record("lab", owner=None, background=True, layout=layout, owns_directory=True)
    record.processes = [ProcessRecord("etcd", ME, ["/bin/etcd"], "log")]
    record.ports, record.versions = {"etcd": 4242}, {"etcd": "3.6.8"}
    Registry().save(record)
    return record


def test_tools_are_listed_with_what_is_missing(call, fake_tool, tmp_path):
    """Name, wanted version, place and source."""
    etcd = fake_tool(tmp_path / "given", "etcd")
    result = call("tools", "list", "--assets", tmp_path / "given")
    lines = {line.split()[0]: line for line in result.output.splitlines()}
    assert lines.keys() == PROGRAMS.keys()
    assert lines["etcd"].split()[1:] == [PROGRAMS["etcd"].version, str(etcd), "(--assets)"]
    assert lines["kind"].endswith("not installed")


def test_the_path_of_a_tool_is_printed_alone(call, fake_tool, tmp_path):
    """For use in scripts."""
    kubectl = fake_tool(tmp_path / "given", "kubectl")
    assert call("tools", "path", "kubectl", "--assets", tmp_path / "given").output == f"{kubectl}\n"


def test_a_missing_tool_ends_with_exit_code_ten(call):
    """CI can tell a missing environment from failed tests."""
    result = call("tools", "path", "kubectl")
    assert result.exit_code == 10
    assert result.output.startswith("error: not installed: kubectl\nhint: ")


def test_installing_what_is_there_just_lists_it(call, fake_tool, tmp_path):
    """All programs of the local backend, and no others."""
    for name in LOCAL_BACKEND:
        fake_tool(tmp_path / "given", name)
    result = call("tools", "install", "--assets", tmp_path / "given")
    assert result.exit_code == 0
    assert tuple(line.split()[0] for line in result.output.splitlines()) == LOCAL_BACKEND


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--nodes", "h200=1"], "there is no node profile 'h200'"),
        (["--apiserver-flag", "v"], "'v' is not NAME=VALUE"),
        (["--name", "No"], "'No' cannot name a cluster"),
    ],
)
def test_a_wrong_argument_starts_nothing(call, fake_tool, tmp_path, arguments, complaint):
    """Exit code 4, as for every usage error."""
    for name in LOCAL_BACKEND:
        fake_tool(tmp_path / "given", name)
    result = call("up", "--assets", tmp_path / "given", *arguments)
    assert result.exit_code == 4
    assert complaint in result.output
    assert Registry().records() == []


def test_status_of_nothing(call):
    """An empty list would look like a fault."""
    assert call("status").output == "nothing is running\n"
    assert call("status", "--name", "x").output == "no control plane is called x\n"


def test_status_shows_components_ports_and_versions(call, running):
    """Before the API server has an address, nodes cannot be counted."""
    output = call("status").output
    assert "etcd                       3.6.8      pid" in output
    assert "port 4242" in output
    assert "stays until `schedlab down`" in output
    assert "nodes       it is starting" in output


def test_status_says_why_nodes_cannot_be_counted(call, running):
    """Certificates are gone, or the server is."""
    running.server = "https://127.0.0.1:1"
    Registry().save(running)
    assert "the API server does not answer" in call("status").output


def test_the_kubeconfig_is_given_as_path_or_content(call, running):
    """`export KUBECONFIG=$(schedlab kubeconfig)`, or a pipe."""
    assert call("kubeconfig").output == f"{running.layout.kubeconfig('admin')}\n"
    assert call("kubeconfig", "--content").output == "kind: Config\n\n"


def test_logs_are_printed_or_listed(call, running):
    """Without a component one sees which there are."""
    assert call("logs", "etcd").output == "line one\nline two\n"
    assert call("logs").output == "etcd\n"
    result = call("logs", "scheduler")
    assert (result.exit_code, "these have: etcd" in result.output) == (4, True)


def test_a_followed_log_goes_on_until_it_is_removed(call, running, monkeypatch):
    """As the control plane goes down."""
    log = running.layout.log("etcd")
    steps = iter([lambda: log.write_text("line one\nline two\nline three\n"), log.unlink])
    monkeypatch.setattr(commands.timing, "pause", lambda _: next(steps)())
    assert call("logs", "etcd", "-f").output == "line one\nline two\nline three\n"


@pytest.mark.parametrize("command", ["down", "kubeconfig", "logs"])
def test_a_name_that_does_not_run_is_answered_with_those_that_do(call, running, command):
    """Exit code 4."""
    result = call(command, "--name", "other")
    assert result.exit_code == 4
    assert "no control plane 'other' is running\nhint: running: lab" in result.output


def test_down_removes_everything(call, running, tmp_path):
    """Processes are ended by identity: this test's own pid is recorded, with another start time."""
    running.processes = [ProcessRecord("etcd", Identity(ME.pid, ME.started + 1, ME.boot), [], "")]
    running.owner = ME
    Registry().save(running)
    result = call("down")
    assert result.output == "lab is down: ended nothing\n"
    assert not (tmp_path / "run").exists()
    assert Registry().records() == []


def test_down_all_leaves_the_runs_of_others(call, running, tmp_path):
    """Only what `schedlab up` has started."""
    running.processes, running.owner = [], ME
    Registry().save(running)
    layout = Layout(directory=tmp_path / "theirs", private=tmp_path / "theirs")
    theirs = new_record("tests", owner=ME, background=False, layout=layout, owns_directory=True)
    Registry().save(theirs)
    assert call("down", "--all").output == "lab is down: ended nothing\n"
    assert [one.name for one in Registry().records()] == ["tests"]


def test_down_mentions_what_it_reaped(call, running):
    """A control plane in the background whose programs are all gone is swept away."""
    running.processes = []
    Registry().save(running)
    output = call("down", "--all").output
    assert output == "removed what a killed run had left of lab\n"
