"""A real browser: Debian's Chromium by the WebDriver protocol, which is JSON over HTTP."""

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from urllib.error import HTTPError, URLError

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="no Chromium here: apt-get install chromium chromium-driver",
)
KEYS = {"left": "\ue012", "right": "\ue014", "home": "\ue011", "end": "\ue010", "space": " "}
"""Names of keys as WebDriver writes them."""
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window of a running Chromium."""

    def __init__(self, port, profile):
        self.home = f"http://127.0.0.1:{port}"
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.home += f"/session/{made['sessionId']}"

    def ask(self, method, path, body=None):
        """Send a command, and return its value."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.home + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            # Not by a proxy: the driver is on this machine.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            with error:
                raise RuntimeError(error.read().decode()[:500]) from None

    def resize(self, width, height=900):
        """Make the page so wide, narrower than a window can be too."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", size)

    def devtools(self, command, params):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, path):
        """Open a file from disk, and forget what was logged before."""
        self.logged("browser"), self.logged("performance")
        self.ask("POST", "/url", {"url": path.resolve().as_uri()})

    def run(self, script, *values):
        """Run the body of a JavaScript function and return its value."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(values)})

    def press(self, *names):
        """Press keys, one after the other, wherever the focus is."""
        actions = []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        keyboard = {"type": "key", "id": "keys", "actions": actions}
        self.ask("POST", "/actions", {"actions": [keyboard]})

    def click(self, selector):
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        self.ask("POST", f"/element/{found[ELEMENT]}/click", {})

    def logged(self, kind):
        return self.ask("POST", "/se/log", {"type": kind})

    def complaints(self):
        """What stands in the console."""
        return [entry["message"] for entry in self.logged("browser")]

    def requests(self):
        """The addresses of everything that was asked for but the page itself."""
        found = [json.loads(entry["message"])["message"] for entry in self.logged("performance")]
        sent = [m["params"] for m in found if m["method"] == "Network.requestWillBeSent"]
        asked = [s["request"]["url"] for s in sent if s.get("type") != "Document"]
        return [url for url in asked if not url.startswith("data:")]

    def picture(self, path):
        """Write what is seen of the window as a PNG."""
        path.write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))


@contextmanager
def browser(folder):
    """Run a Chromium with an empty profile below a folder."""
    log = folder / "driver.log"
    with log.open("wb") as out:
        driver = subprocess.Popen([DRIVER, "--port=0"], stdout=out, stderr=subprocess.STDOUT)
        try:
            window = Browser(_port(log), folder / "profile")
            try:
                yield window
            finally:
                window.ask("DELETE", "")
        finally:
            driver.terminate()
            driver.wait(timeout=30)


def _port(log):
    """Return the port that the driver has chosen, once it says so."""
    for _ in range(600):
        said = log.read_text(encoding="utf-8", errors="replace")
        if "on port " in said.partition("started successfully")[2]:
            return int(said.rpartition("on port ")[2].split(".")[0])
        time.sleep(0.1)
    raise URLError(f"chromedriver did not start: {said[:300]}")
