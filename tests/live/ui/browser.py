"""Chromium, driven over its DevTools protocol: as much of it as the tests of the page need, with Python's own library."""
import base64
import json
import os
import re
import socket
import struct
import subprocess
import time
import urllib.parse
import urllib.request


class Socket:
    """A WebSocket to a program on this machine."""

    def __init__(self, url):
        parts = urllib.parse.urlparse(url)
        self.s = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self.s.sendall((f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Key: d2luZGxhc3Mtd2luZGxhcw==\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.s.recv(4096)
        self.rest = self.rest.split(b"\r\n\r\n", 1)[1]

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        head = b"\x81" + (struct.pack("!B", 0x80 | n) if n < 126 else struct.pack("!BH", 0xFE, n) if n < 65536
                          else struct.pack("!BQ", 0xFF, n))
        key = (mask * (n // 4 + 1))[:n]
        self.s.sendall(head + mask + (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(n, "big"))

    def take(self, n):
        while len(self.rest) < n:
            more = self.s.recv(1 << 16)
            if not more:
                raise ConnectionError("the browser is gone")
            self.rest += more
        out, self.rest = self.rest[:n], self.rest[n:]
        return out

    def receive(self):
        whole = b""
        while True:
            first, second = self.take(2)
            n = second & 0x7F
            if n == 126:
                n, = struct.unpack("!H", self.take(2))
            elif n == 127:
                n, = struct.unpack("!Q", self.take(8))
            piece = self.take(n)
            if first & 0x0F in (0, 1):
                whole += piece
                if first & 0x80:
                    return whole.decode()


class Browser:
    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--force-color-profile=srgb", "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", "--no-default-browser-check", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        url = None
        for line in self.process.stderr:
            found = re.search(r"ws://(\S+?)/", line)
            if found:
                url = found.group(1)
                break
        pages = json.load(urllib.request.urlopen(f"http://{url}/json/list"))
        self.socket = Socket(next(p for p in pages if p["type"] == "page")["webSocketDebuggerUrl"])
        self.last, self.complaints, self.requests = 0, [], []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while True:
            said = json.loads(self.socket.receive())
            if said.get("id") == self.last:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]
            self.note(said)

    def note(self, said):
        what, about = said.get("method"), said.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.complaints.append("exception: " + json.dumps(about["exceptionDetails"])[:600])
        elif what == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append("console: " + json.dumps(about["args"])[:600])
        elif what == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append("log: " + about["entry"]["text"] + " " + about["entry"].get("url", ""))
        elif what == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif what == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog: " + about.get("message", ""))

    def run(self, expression):
        said = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in said:
            raise RuntimeError(json.dumps(said["exceptionDetails"])[:1000])
        return said["result"].get("value")

    def until(self, expression, what, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                value = self.run(f"(v => v instanceof Node ? true : v)({expression})")
            except RuntimeError:
                value = None  # between two pages
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"never: {what}\n{self.run('document.body.innerText')[:3000]}")

    def open(self, url):
        self.call("Page.navigate", url=url)

    def looks(self, width, height, scheme="light", motion="no-preference"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": motion}])
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9, "Home": 36, "End": 35}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())),
                      **(text if kind == "keyDown" else {}))

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()


# What everybody must be able to read, reach and hear; empty when nothing is wrong.
CHECKS = r"""
(() => {
  const wrong = [], root = getComputedStyle(document.body).backgroundColor;
  const parse = (c) => { const n = c.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n.slice(0, 3), 1] : n; };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const behind = (e) => {
    const all = [];
    for (let at = e; at; at = at.parentElement) all.push(parse(getComputedStyle(at).backgroundColor));
    return all.reverse().reduce((b, a) => (a[3] ? over(a, b) : b), [255, 255, 255, 1]);
  };
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest(".unseen, .skip, noscript");
  let texts = 0, least = 99;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e || ["SCRIPT", "STYLE", "OPTION"].includes(e.tagName) || !seen(e)) continue;
    const style = getComputedStyle(e), back = behind(e);
    let front = parse(e instanceof SVGElement ? style.fill : style.color);
    for (let at = e; at; at = at.parentElement) front = [...front.slice(0, 3), front[3] * Number(getComputedStyle(at).opacity)];
    const c = contrast(over(front, back), back);
    ++texts; least = Math.min(least, c);
    // What sticks out of the window cannot be read, unless it scrolls or ends in an ellipsis.
    const place = document.createRange();
    place.selectNodeContents(walker.currentNode);
    let reached = e instanceof SVGElement || e.closest(".scroll");
    for (let at = e; at && !reached; at = at.parentElement) reached = getComputedStyle(at).textOverflow === "ellipsis";
    if (!reached && place.getBoundingClientRect().right > innerWidth + 1) wrong.push(`cut off: "${walker.currentNode.data.trim().slice(0, 40)}" in ${e.tagName}.${e.className}`);
    if (c < 4.5) wrong.push(`contrast ${c.toFixed(2)}: "${walker.currentNode.data.trim().slice(0, 40)}" in ${e.tagName}.${e.className?.baseVal ?? e.className}`);
  }
  const name = (e) => (e.getAttribute("aria-label") || (e.labels?.length && [...e.labels].map((l) => l.innerText).join(" ")) || e.innerText || e.getAttribute("title") || e.alt || "").trim();
  let controls = 0;
  for (const e of document.querySelectorAll("a[href], button, input, select, [tabindex='0'], [role=progressbar], [role=img]")) {
    if (!seen(e)) continue;
    ++controls;
    if (!name(e)) wrong.push("no name: " + e.outerHTML.slice(0, 120));
    const box = e.getBoundingClientRect();
    if (matchMedia("(max-width: 899px)").matches && e.matches("button, input, select, .row") && box.height < 24) wrong.push("too small to touch: " + name(e));
  }
  for (const t of document.querySelectorAll("table")) {
    if (!t.caption) wrong.push("a table without a caption");
    if ([...t.querySelectorAll("th")].some((h) => !h.scope)) wrong.push("a table head without a scope");
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push("two elements are " + id);
  for (const e of document.querySelectorAll("[aria-labelledby]")) if (!document.getElementById(e.getAttribute("aria-labelledby"))) wrong.push("labelled by nobody: " + e.getAttribute("aria-labelledby"));
  for (const one of document.body.matches(".door") ? ["main"] : ["main", "nav", "header"]) if (!document.querySelector(one)) wrong.push("no landmark " + one);
  if (document.querySelectorAll("h1").length !== 1) wrong.push(document.querySelectorAll("h1").length + " first headings");
  if (!document.documentElement.lang) wrong.push("no language");
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`wider than the window: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  return { wrong: [...new Set(wrong)], texts, controls, least: Math.round(least * 100) / 100 };
})()
"""
