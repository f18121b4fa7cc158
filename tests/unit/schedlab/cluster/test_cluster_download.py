"""Releases are fetched from a server that does everything a real one may do wrong."""

import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from schedlab.cluster import download
from schedlab.cluster.download import Timeouts
from schedlab.cluster.tool_cache import this_platform
from schedlab.cluster.versions import PROGRAMS
from schedlab.errors import EnvironmentStartError

KUBECTL, ETCD, KIND, KWOK = (PROGRAMS[name] for name in ("kubectl", "etcd", "kind", "kwok"))
QUICK = Timeouts(reach=2.0, stall=0.3)
SYSTEM, MACHINE = this_platform()


class Releases(ThreadingHTTPServer):
    """Serves `files`; `faults` says what to do wrong with the next answers for a path."""

    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.faults, self.requests = {}, {}, []
        self.finish = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request: as asked, or with the next fault for its path."""

    def do_HEAD(self):
        self.send_response(404)
        self.end_headers()

    def do_GET(self):
        asked = self.headers.get("Range", "")
        self.server.requests.append((self.path, asked))
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        faults = self.server.faults.get(self.path, [])
        fault = faults.pop(0) if faults else ""
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and fault != "no ranges" else 0
        rest = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if fault == "truncate":
            self.wfile.write(rest[: len(rest) // 2])
        elif fault == "stall":
            self.wfile.write(rest[: len(rest) // 2])
            self.wfile.flush()
            self.server.finish.wait(10)
        else:
            self.wfile.write(rest)

    def log_message(self, *_):
        """Keep the test output clean."""


@pytest.fixture
def releases(monkeypatch):
    """A release server in the place of both official ones."""
    with Releases() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        for variable, _ in download.BASE_URLS.values():
            monkeypatch.setenv(variable, server.url + "/")
        yield server
        server.finish.set()
        server.shutdown()
        thread.join()


def script(text):
    """A program that prints `text`, large enough to be cut in the middle."""
    return f"#!/bin/sh\necho '{text}'\nexit 0\n".encode() + b"#" * 100_000


def offer(server, program, content, *, digest=None):
    """Put a release with its checksum on the server; returns the path of the file."""
    file, checksum = (
        "/" + path.format(os=SYSTEM, arch=MACHINE)
        for path in (program.release.file, program.release.checksum)
    )
    server.files[file] = content
    value = digest or hashlib.new(program.release.algorithm, content).hexdigest()
    name = file.rpartition("/")[2]
    text = value if program is KUBECTL else f"{'0' * 64}  other.tar.gz\n{value}  {name}\n"
    server.files[checksum] = text.encode()
    return file


def test_a_good_release_is_installed(releases, cache, progress):
    """With its origin, and a progress bar that knew its size."""
    content = script(f"Client Version: v{KUBECTL.version}")
    file = offer(releases, KUBECTL, content)
    assert download.install([KUBECTL], cache, progress, QUICK) == []
    assert cache.path(KUBECTL).read_bytes() == content
    assert cache.verify(KUBECTL, cache.path(KUBECTL)) == KUBECTL.version
    origin = cache.origin(KUBECTL)
    assert (origin.method, origin.source) == ("download", releases.url + file)
    assert origin.sha256 == hashlib.sha256(content).hexdigest()
    assert (progress.tasks[0].total, progress.tasks[0].done) == (len(content), len(content))


def test_a_program_is_taken_out_of_its_archive(releases, cache, progress):
    """etcd comes as a tar archive, its digest in a list of many."""
    program = script(f"etcd Version: {ETCD.version}")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in (
            (ETCD.release.member.format(os=SYSTEM, arch=MACHINE), program),
            ("x/etcdctl", b""),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    offer(releases, ETCD, archive.getvalue())
    assert download.install([ETCD], cache, progress, QUICK) == []
    assert cache.path(ETCD).read_bytes() == program


def test_an_archive_without_the_program_is_an_error(releases, cache, progress):
    """Its publisher has changed the layout; guessing would run something else."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz"):
        pass
    offer(releases, ETCD, archive.getvalue())
    with pytest.raises(EnvironmentStartError, match="holds no file etcd-v"):
        download.install([ETCD], cache, progress, QUICK)


@pytest.mark.parametrize("fault", ["truncate", "stall"])
def test_a_broken_transfer_is_resumed_where_it_stopped(releases, cache, progress, fault):
    """The second request asks for the rest only, and the user is told."""
    content = script(f"Client Version: v{KUBECTL.version}")
    file = offer(releases, KUBECTL, content)
    releases.faults[file] = [fault]
    assert download.install([KUBECTL], cache, progress, QUICK) == []
    assert cache.path(KUBECTL).read_bytes() == content
    half = len(content) // 2
    assert [asked for path, asked in releases.requests if path == file] == ["", f"bytes={half}-"]
    assert f"broke off after {half} bytes" in progress.notes[0]


def test_a_server_that_cannot_resume_sends_everything_again(releases, cache, progress):
    """What was there is thrown away, not prefixed."""
    content = script(f"Client Version: v{KUBECTL.version}")
    file = offer(releases, KUBECTL, content)
    releases.faults[file] = ["truncate", "no ranges"]
    assert download.install([KUBECTL], cache, progress, QUICK) == []
    assert cache.path(KUBECTL).read_bytes() == content


def test_a_transfer_that_always_breaks_is_given_up(releases, cache, progress):
    """After four attempts; the build may still work, so it is no error."""
    file = offer(releases, KUBECTL, script("x"))
    releases.faults[file] = ["stall"] * 9
    assert download.install([KUBECTL], cache, progress, QUICK) == [KUBECTL]
    assert "4 times" in progress.notes[-1]
    assert not cache.path(KUBECTL).exists()


def test_a_wrong_checksum_ends_the_installation(releases, cache, progress):
    """No other way is tried quietly: somebody should look at this."""
    offer(releases, KUBECTL, script("x"), digest="ab" * 64)
    with pytest.raises(EnvironmentStartError, match="its publisher says abab") as caught:
        download.install([KUBECTL], cache, progress, QUICK)
    assert "--method build" in caught.value.hint
    assert not cache.path(KUBECTL).exists()
    assert not list((cache.root / "tools").glob(".partial*"))


@pytest.mark.parametrize("missing", ["file", "checksum"])
def test_a_release_that_is_not_there_is_left_to_the_build(releases, cache, progress, missing):
    """The note names the URL and the server's answer."""
    offer(releases, KUBECTL, script("x"))
    path = "/" + getattr(KUBECTL.release, missing).format(os=SYSTEM, arch=MACHINE)
    del releases.files[path]
    assert download.install([KUBECTL], cache, progress, QUICK) == [KUBECTL]
    assert progress.notes == [f"not downloaded: kubectl: {releases.url}{path} answers 404 Not Found"]


def test_a_list_without_the_file_is_no_checksum(releases, cache, progress):
    """A digest of something else must not pass."""
    file = offer(releases, KIND, script("x"))
    releases.files[file + ".sha256sum"] = b"0" * 64 + b"  kind-plan9-mips\n"
    assert download.install([KIND], cache, progress, QUICK) == [KIND]
    assert "holds no checksum for kind-" in progress.notes[0]


def test_a_server_that_does_not_answer_is_asked_once(cache, progress, monkeypatch):
    """Not once per program; one note names all programs that it would have had."""
    for variable, _ in download.BASE_URLS.values():
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    programs = [KUBECTL, PROGRAMS["kube-scheduler"]]
    assert download.install(programs, cache, progress, QUICK) == programs
    (note,) = progress.notes
    assert note.startswith("not downloaded: kubectl, kube-scheduler: http://127.0.0.1:1 cannot be reached")


def test_without_a_published_checksum_nothing_is_downloaded(releases, cache, progress):
    """kwok's releases carry none."""
    assert download.install([KWOK], cache, progress, QUICK) == [KWOK]
    assert releases.requests == []
    assert "publishes no checksum" in progress.notes[0]


def test_a_base_url_that_is_no_web_address_is_refused(cache, progress, monkeypatch):
    """A file:// URL would read local files in place of a release."""
    monkeypatch.setenv("SCHEDLAB_KUBERNETES_RELEASES", "file:///etc")
    with pytest.raises(EnvironmentStartError, match="neither http nor https"):
        download.install([KUBECTL], cache, progress, QUICK)
