"""Official releases, fetched and verified against the checksum that their publisher put beside them.

A base URL that does not answer is passed over with a note, and so is a file that is not there: the build
takes over. A transfer that breaks off or stalls is resumed where it stopped. A file that is not what its
checksum says ends the installation, since nothing good explains it.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import tarfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from schedlab.cluster.progress import Progress, Task
from schedlab.cluster.tool_cache import Origin, ToolCache, ask_version, this_platform
from schedlab.cluster.versions import Program, Release
from schedlab.errors import EnvironmentStartError, SchedlabError

_REACH_SECONDS = 5.0
_STALL_SECONDS = 20.0
_ATTEMPTS = 4
_CHUNK = 1 << 18

BASE_URLS: Mapping[str, tuple[str, str]] = {
    "kubernetes": ("SCHEDLAB_KUBERNETES_RELEASES", "https://dl.k8s.io/release"),
    "github": ("SCHEDLAB_GITHUB_RELEASES", "https://github.com"),
}
"""For each host the environment variable that replaces its base URL (a mirror), and the official one."""


class UnavailableError(SchedlabError):
    """A release cannot be had here; another way may work."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for a first answer, and for the next byte, in seconds."""

    reach: float = _REACH_SECONDS
    stall: float = _STALL_SECONDS


def install(
    programs: Sequence[Program], cache: ToolCache, progress: Progress, timeouts: Timeouts | None = None
) -> list[Program]:
    """Download what can be downloaded; returns the programs that could not be, with a note saying why.

    Raises:
        EnvironmentStartError: a download is not what its publisher says it is.
    """
    timeouts = timeouts or Timeouts()
    unreachable: dict[str, str] = {}
    left: dict[str, list[Program]] = {}
    for program in programs:
        try:
            _install_one(program, cache, progress, timeouts, unreachable)
        except UnavailableError as reason:
            left.setdefault(reason.message, []).append(program)
    for why, without in left.items():
        progress.note(f"not downloaded: {', '.join(program.name for program in without)}: {why}")
    return [program for without in left.values() for program in without]


def _install_one(
    program: Program, cache: ToolCache, progress: Progress, timeouts: Timeouts, unreachable: dict[str, str]
) -> None:
    release = program.release
    if release is None:
        raise UnavailableError("its project publishes no checksum to verify it with")
    base = base_url(release.host)
    if base not in unreachable:
        unreachable[base] = _unreachable(base, timeouts)
    if unreachable[base]:
        raise UnavailableError(unreachable[base])
    system, machine = this_platform()
    url, checksum_url = (
        f"{base}/{path.format(os=system, arch=machine)}" for path in (release.file, release.checksum)
    )
    with cache.scratch() as scratch:
        wanted = _published_digest(checksum_url, url.rpartition("/")[2], timeouts)
        file = scratch / "download"
        with progress.task(f"downloading {program.name} {program.version}", 0, "bytes") as task:
            fetch(url, file, task, progress, timeouts)
        _check(file, release.algorithm, wanted, url)
        if release.member:
            file = _extract(file, release, scratch / "member")
        file.chmod(0o755)
        ask_version(program, file)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        cache.publish(program, file, Origin("download", url, digest))


def base_url(host: str) -> str:
    """Where the releases of a host are, without a slash at the end."""
    variable, official = BASE_URLS[host]
    return (os.environ.get(variable) or official).rstrip("/")


def _unreachable(base: str, timeouts: Timeouts) -> str:
    """Why a server does not answer, or nothing if it does; any HTTP status is an answer."""
    try:
        with _open(urllib.request.Request(base, method="HEAD"), timeouts.reach):  # noqa: S310 - checked in _open
            return ""
    except urllib.error.HTTPError:
        return ""
    except (OSError, http.client.HTTPException) as error:
        return f"{base} cannot be reached ({_reason(error)})"


def _open(request: urllib.request.Request, seconds: float) -> http.client.HTTPResponse:
    if urllib.parse.urlsplit(request.full_url).scheme not in ("http", "https"):
        raise EnvironmentStartError(
            f"{request.full_url} is neither http nor https", hint="correct the base URL in the environment"
        )
    response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=seconds)  # noqa: S310 - checked above
    return response


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", "") or error or type(error).__name__)


def _published_digest(url: str, file: str, timeouts: Timeouts) -> str:
    """The digest of `file` in a published checksum file: alone in it, or in the line with the name."""
    try:
        with _open(urllib.request.Request(url), timeouts.stall) as response:  # noqa: S310 - checked in _open
            text = response.read(1 << 20).decode(errors="replace")
    except urllib.error.HTTPError as error:
        raise UnavailableError(f"{url} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise UnavailableError(f"{url}: {_reason(error)}") from error
    for line in text.splitlines():
        words = line.split()
        if (
            words
            and re.fullmatch(r"[0-9a-f]{64,128}", words[0])
            and (len(words) == 1 or words[-1].lstrip("*") == file)
        ):
            return words[0]
    raise UnavailableError(f"{url} holds no checksum for {file}")


def fetch(url: str, file: Path, task: Task, progress: Progress, timeouts: Timeouts) -> None:
    """Download `url` into `file`, resuming after each break for as long as there are attempts left.

    Raises:
        UnavailableError: the server refuses, or the last attempt broke off too.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _transfer(url, file, task, timeouts)
        except urllib.error.HTTPError as error:
            raise UnavailableError(f"{url} answers {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            broken = f"{url} broke off after {_size(file)} bytes ({_reason(error)})"
            if attempt == _ATTEMPTS:
                raise UnavailableError(f"{broken}, {_ATTEMPTS} times") from error
            progress.note(f"{broken}; resuming")
        else:
            return


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _transfer(url: str, file: Path, task: Task, timeouts: Timeouts) -> None:
    """One attempt, from where the file ends if the server can do that, else from the beginning."""
    have = _size(file)
    headers = {"Range": f"bytes={have}-"} if have else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - checked in _open
    with _open(request, timeouts.stall) as response:
        resumed = response.status == 206
        start = have if resumed else 0
        length = int(response.headers.get("Content-Length") or 0)
        task.total = start + length
        with file.open("ab" if resumed else "wb") as output:
            _copy(response, output, start, task)
        if length and _size(file) != start + length:
            raise http.client.IncompleteRead(b"", start + length - _size(file))


def _copy(response: http.client.HTTPResponse, output: IO[bytes], done: int, task: Task) -> None:
    while chunk := response.read1(_CHUNK):  # what has come counts, even if the rest never does
        output.write(chunk)
        done += len(chunk)
        task.update(done)


def _check(file: Path, algorithm: str, wanted: str, url: str) -> None:
    with file.open("rb") as content:
        got = hashlib.file_digest(content, algorithm).hexdigest()
    if got != wanted:
        raise EnvironmentStartError(
            f"{url} has {algorithm} {got[:16]}…, its publisher says {wanted[:16]}…",
            hint="try again, use another base URL, or run `schedlab tools install --method build`",
        )


def _extract(archive: Path, release: Release, target: Path) -> Path:
    """Take the one file out of a tar archive that is wanted."""
    system, machine = this_platform()
    member = release.member.format(os=system, arch=machine)
    with tarfile.open(archive) as tar:
        content = tar.extractfile(member) if member in tar.getnames() else None
        if content is None:
            raise EnvironmentStartError(f"the release archive holds no file {member}")
        with content, target.open("wb") as output:
            shutil.copyfileobj(content, output)
    return target
