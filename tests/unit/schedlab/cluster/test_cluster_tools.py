"""Programs are looked for in a fixed order, must say the right version, and are installed once."""

import threading

import pytest

from schedlab.cluster import build, download, tools
from schedlab.cluster.tool_cache import Origin
from schedlab.cluster.versions import PROGRAMS
from schedlab.errors import EnvironmentStartError

NAMES = ["etcd", "kubectl"]


@pytest.fixture
def cached(cache, fake_tool, tmp_path):
    """Puts a program into the cache."""

    def put(name, version=None):
        file = fake_tool(tmp_path / "made", name, version)
        return cache.publish(PROGRAMS[name], file, Origin("build", "here", "0" * 64))

    return put


def test_the_search_order(cache, cached, fake_tool, tmp_path, monkeypatch):
    """A given directory, TEST_ASSET_*, KUBEBUILDER_ASSETS, the cache: each hides those after it."""
    cached("etcd")
    places = [("cache, by build", cache.path(PROGRAMS["etcd"]))]
    assert [(one.source, one.path) for one in tools.locate(["etcd"])] == places
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "kb"))
    by_directory = fake_tool(tmp_path / "kb", "etcd")
    assert [(one.source, one.path) for one in tools.locate(["etcd"])] == [
        ("KUBEBUILDER_ASSETS", by_directory)
    ]
    by_name = fake_tool(tmp_path / "named", "etcd")
    monkeypatch.setenv("TEST_ASSET_ETCD", str(by_name))
    assert [(one.source, one.path) for one in tools.locate(["etcd"])] == [("TEST_ASSET_ETCD", by_name)]
    given = fake_tool(tmp_path / "given", "etcd")
    found = tools.locate(["etcd"], assets=tmp_path / "given")
    assert [(one.source, one.path) for one in found] == [("--assets", given)]


def test_a_directory_without_the_program_is_passed_over(cached, monkeypatch, tmp_path):
    """envtest's assets hold three programs only."""
    cached("kubectl")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert [one.source for one in tools.locate(["kubectl"])] == ["cache, by build"]


def test_a_variable_that_names_no_file_is_an_error(monkeypatch, tmp_path):
    """It was set on purpose, so passing it over would hide a mistake."""
    monkeypatch.setenv("TEST_ASSET_ETCD", str(tmp_path / "none"))
    with pytest.raises(
        EnvironmentStartError, match=r"TEST_ASSET_ETCD names .*none, which is not a file"
    ) as caught:
        tools.locate(["etcd"])
    assert caught.value.hint == "unset TEST_ASSET_ETCD"


def test_another_version_is_refused(fake_tool, tmp_path):
    """It would have other texts and other scores."""
    fake_tool(tmp_path / "given", "etcd", "3.5.0")
    with pytest.raises(EnvironmentStartError, match=r"etcd 3\.5\.0; this schedlab needs 3\."):
        tools.locate(["etcd"], assets=tmp_path / "given")


def test_what_does_not_run_is_refused(script, tmp_path):
    """For example a program for another platform."""
    script(tmp_path / "etcd", "exit 1")
    with pytest.raises(EnvironmentStartError, match="does not run"):
        tools.locate(["etcd"], assets=tmp_path)


def test_what_says_something_else_is_refused(script, tmp_path):
    """The answer is quoted."""
    script(tmp_path / "etcd", "echo hello")
    with pytest.raises(EnvironmentStartError, match="is not etcd: it answered 'hello'"):
        tools.locate(["etcd"], assets=tmp_path)


def test_a_version_is_asked_once_until_the_file_changes(script, tmp_path, cache):
    """Starting seven programs to learn their version takes a second; every boot would pay it."""
    count = tmp_path / "count"
    for version in ("3.6.8", "3.6.9"):
        file = script(tmp_path / "etcd", f"echo x >> {count}; echo etcd Version: {version}")
        assert cache.verify(PROGRAMS["etcd"], file) == version
        assert cache.verify(PROGRAMS["etcd"], file) == version
    assert count.read_text() == "x\nx\n"


def test_a_damaged_memory_of_versions_is_no_obstacle(fake_tool, tmp_path, cache):
    """Every program is asked again."""
    cache.root.mkdir(parents=True)
    (cache.root / "verified.json").write_text("{")
    assert cache.verify(PROGRAMS["etcd"], fake_tool(tmp_path, "etcd")) == PROGRAMS["etcd"].version


def test_all_missing_programs_are_named_at_once(cached):
    """With the way out."""
    cached("etcd")
    with pytest.raises(EnvironmentStartError, match="not installed: kubectl, kwok") as caught:
        tools.find(["etcd", "kubectl", "kwok"])
    assert "schedlab tools install" in caught.value.hint


def test_asking_for_a_program_that_was_not_found_says_how_to_get_it():
    """Tools hold what was asked for, no more."""
    with pytest.raises(EnvironmentStartError, match="kind is not installed") as caught:
        tools.Tools([]).path("kind")
    assert caught.value.hint == "run `schedlab tools install kind`"


@pytest.fixture
def methods(monkeypatch, fake_tool, tmp_path):
    """Stands in for downloads and builds; remembers what each was asked for."""
    asked = {"download": [], "build": [], "gives": {"etcd"}}

    def put(program, cache, method):
        file = fake_tool(tmp_path / method, program.name)
        cache.publish(program, file, Origin(method, "there", "0" * 64))

    def fetch(programs, cache, progress):
        asked["download"] += [program.name for program in programs]
        for program in programs:
            if program.name in asked["gives"]:
                put(program, cache, "download")
        return [program for program in programs if program.name not in asked["gives"]]

    def make(programs, cache, progress):
        asked["build"] += [program.name for program in programs]
        for program in programs:
            put(program, cache, "build")

    monkeypatch.setattr(download, "install", fetch)
    monkeypatch.setattr(build, "install", make)
    return asked


def test_what_cannot_be_downloaded_is_built(methods):
    """And each program says where it came from."""
    found = tools.install(names=NAMES)
    assert {one.name: one.source for one in found} == {
        "etcd": "cache, by download",
        "kubectl": "cache, by build",
    }
    assert (methods["download"], methods["build"]) == (NAMES, ["kubectl"])


def test_what_is_there_is_not_installed_again(methods):
    """A second run asks nobody."""
    tools.install(names=NAMES)
    tools.install(names=NAMES)
    assert methods["download"] == NAMES


def test_only_what_is_missing_is_installed(methods, cached):
    """One program is there already."""
    cached("kubectl")
    tools.install(names=NAMES)
    assert (methods["download"], methods["build"]) == (["etcd"], [])


def test_one_method_can_be_asked_for(methods):
    """Without the others nothing is built behind one's back."""
    with pytest.raises(EnvironmentStartError, match="not installed: kubectl"):
        tools.install(names=NAMES, methods=["download"])
    assert methods["build"] == []


def test_two_installations_at_once_do_the_work_once(methods, cache, progress):
    """The second one says that it waits, and then finds what the first has installed."""
    results = []
    thread = threading.Thread(target=lambda: results.append(tools.install(progress, NAMES)))
    with cache.lock(lambda: None):
        thread.start()
        while not progress.notes:
            thread.join(0.01)
        methods["gives"] = set(NAMES)
        download.install([PROGRAMS[name] for name in NAMES], cache, progress)
    thread.join(20)
    assert progress.notes == ["another installation is under way; waiting for it to end"]
    assert methods["download"] == NAMES
    assert [one.name for one in results[0]] == NAMES


def test_a_program_appears_in_the_cache_whole(cache, fake_tool, tmp_path):
    """Nothing half-made remains, and a replaced one leaves no trace."""
    program = PROGRAMS["etcd"]
    for round_ in ("first", "second"):
        cache.publish(program, fake_tool(tmp_path / "made", "etcd"), Origin("build", round_, "0" * 64))
        assert cache.origin(program).source == round_
    directory = cache.path(program).parent
    assert sorted(path.name for path in directory.iterdir()) == ["etcd", "origin.json"]
    assert [path.name for path in directory.parent.parent.iterdir()] == ["etcd"]


def test_the_cache_is_addressed_by_version_and_platform(cache):
    """Two versions of schedlab share a cache without meeting."""
    path = cache.path(PROGRAMS["kube-apiserver"])
    assert f"v{PROGRAMS['kube-apiserver'].version}-" in path.parent.name
    assert path.parent.parent.name == path.name == "kube-apiserver"
