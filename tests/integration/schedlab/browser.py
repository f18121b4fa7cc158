"""A real browser: Chromium without a window, driven through chromedriver by the WebDriver protocol."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from schedlab import timing

PROGRAMS = ("chromium", "chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
ENTER, TAB, RIGHT = "\ue007", "\ue004", "\ue014"
PATIENCE = 20.0


def missing() -> list[str]:
    """The programs that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


class Browser:
    """One session; `open` it on a file, ask it things, press keys."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._driver: subprocess.Popen[str] | None = None
        self._base = ""

    def __enter__(self) -> Self:
        self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self._base = f"http://127.0.0.1:{found[1]}"
                break
        options = {
            "binary": shutil.which("chromium"),
            "args": [*FLAGS, f"--user-data-dir={self._profile}"],
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        try:
            session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self._end()
            raise
        self._base += f"/session/{session['sessionId']}"
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._ask("DELETE", "")
        finally:
            self._end()

    def open(self, file: Path, fragment: str = "") -> None:
        """Load a file anew, by way of an empty page, since a new fragment alone loads nothing."""
        self._ask("POST", "/url", {"url": "about:blank"})
        self._ask("POST", "/url", {"url": file.as_uri() + fragment})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a script returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": arguments})

    def until(self, script: str, *arguments: Any) -> Any:
        """The first value of a script that is true."""
        deadline = timing.Deadline.after(PATIENCE)
        while not (value := self.run(script, *arguments)):
            assert not deadline.expired, f"still {value!r}: {script}"
            timing.pause(0.02)
        return value

    def press(self, keys: str) -> None:
        """Type keys into whatever has the focus."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def size(self, width: int, height: int) -> None:
        """Resize the window."""
        self._ask("POST", "/window/rect", {"width": width, "height": height})

    def complaints(self) -> list[str]:
        """What the page wrote to its console since the last call: errors, violations of the policy."""
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """What was asked of a network or the disk since the last call."""
        entries = self._ask("POST", "/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def picture(self, file: Path) -> None:
        """Save what the window shows."""
        file.write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            self._base + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:2000]}") from error

    def _end(self) -> None:
        assert self._driver is not None
        assert self._driver.stdout is not None
        self._driver.terminate()
        self._driver.wait(timeout=20)
        self._driver.stdout.close()
