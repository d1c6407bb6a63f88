"""Drives a real Chromium: pages from files, their console, and what they ask the network for.

Needs `chromium` and `chromedriver` on the machine (Debian: `apt-get install chromium chromium-driver`).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is in the extra `dev`")
DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(
    not (DRIVER and CHROMIUM), reason="chromium and chromedriver are not installed"
)
OWN = ("file:", "data:", "blob:", "about:", "chrome:", "devtools:")


class Browser:
    """One window."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path) -> None:
        """A page from a file; what earlier pages logged is forgotten."""
        self.console(), self.requests()
        self.driver.get(path.as_uri())

    def look(self, *, width: int, height: int = 900, theme: str = "light") -> None:
        """The size of the window and the theme that the person prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        prefers = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", prefers)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script of the test gives back."""
        return self.driver.execute_script(script, *arguments)

    def press(self, keys: str) -> None:
        """Keys, to whatever has the focus."""
        webdriver.ActionChains(self.driver).send_keys(keys).perform()

    def chord(self, key: str) -> None:
        """A key with control held."""
        keys = webdriver.ActionChains(self.driver).key_down("\ue009").send_keys(key)
        keys.key_up("\ue009").perform()

    def click(self, css: str) -> None:
        """The first visible element of a selector."""
        next(e for e in self.driver.find_elements("css selector", css) if e.is_displayed()).click()

    def text(self, css: str) -> str:
        """The text of the first element of a selector."""
        return str(self.driver.find_element("css selector", css).text)

    def console(self) -> list[str]:
        """What the page said to the console since the last look: errors and refused loads."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses outside of the page that were asked for since the last look."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        asked = (e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent")
        return [url for url in asked if not url.startswith(OWN)]

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(self.run("return document.documentElement.scrollWidth - window.innerWidth"))

    def screenshot(self, path: Path) -> None:
        """The whole page, as far as it goes."""
        self.driver.save_screenshot(str(path))


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless window for as long as the block lasts."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=str(DRIVER))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Browser(driver)
    except BaseException:
        if folder := os.environ.get("SCREENSHOTS"):
            driver.save_screenshot(str(Path(folder) / "failed.png"))
        raise
    finally:
        driver.quit()
