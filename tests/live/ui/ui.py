#!/usr/bin/env python3
"""The page in Chromium: on texts that mean harm, on 2,000 clusters, and on a running demo that is followed to its end.
Longer than most files: one browser, one step after the other.
usage: ui.py BUILD_FOLDER    Pictures are left in BUILD_FOLDER/ui."""
import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
from browser import CHECKS, Browser  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[3]
PICTURES = BUILD / "ui"
PICTURES.mkdir(exist_ok=True)


# What `./dev setup live` fetches: the rules of accessibility that everybody measures by.
AXE = pathlib.Path(os.environ.get("WINDLASS_AXE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "windlass", "axe.min.js"))


def say(line):
    print("## ui: " + line, flush=True)


def check(good, sentence):
    if not good:
        raise AssertionError(sentence)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def policy_of_the_page():
    text = (SOURCE / "service/page/site.cpp").read_text()
    literal = re.search(r'"Content-Security-Policy",\s*((?:"[^"]*"\s*)+)\)', text).group(1)
    return "".join(re.findall(r'"([^"]*)"', literal))


class Stub:
    """Serves the page's files with any fleet in them."""

    def __init__(self, board, documents):
        stub = self
        csp = policy_of_the_page()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path == "/events":
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.send_header("Connection", "close")
                    self.end_headers()
                    event = {"apiVersion": "windlass.dev/v1alpha1", "kind": "FleetChange", "at": "2026-11-22T10:00:00Z",
                             "full": True, "set": board, "gone": []}
                    try:
                        self.wfile.write(f"id: x-1\ndata: {json.dumps(event)}\n\n".encode())
                        while not stub.ended.wait(5):
                            self.wfile.write(b"id: x-1\ndata: {\"at\":\"2026-11-22T10:00:05Z\"}\n\n")
                    except OSError:
                        pass
                    self.close_connection = True
                    return
                if path.startswith("/data/"):
                    body, kind = json.dumps(documents(path[6:], urllib.parse.parse_qs(query))).encode(), "application/json"
                else:
                    file = SOURCE / "service/page/files" / (path.strip("/") or "index.html")
                    if not file.is_file():
                        self.send_error(404)
                        return
                    body = file.read_bytes()
                    kind = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}[file.suffix]
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Security-Policy", csp)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.ended = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def end(self):
        self.ended.set()
        self.server.shutdown()


def fit_for_all(b, where, sizes=((1280, 800),), schemes=("light", "dark")):
    for width, height in sizes:
        for scheme in schemes:
            b.looks(width, height, scheme)
            found = b.run(CHECKS)
            check(not found["wrong"], f"{where} at {width}×{height}, {scheme}:\n  " + "\n  ".join(found["wrong"][:20]))
            said = f"{where}, {width}×{height} {scheme}: {found['texts']} texts, least contrast {found['least']}, {found['controls']} controls, all named"
            if AXE.is_file():
                b.run(AXE.read_text())
                findings = b.run("""axe.run(document, { resultTypes: ['violations'] }).then((r) =>
                  r.violations.map((v) => v.id + ' in ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')))""")
                check(not findings, f"{where} at {width}×{height}, {scheme}, axe-core:\n  " + "\n  ".join(findings))
                said += ", axe-core finds nothing"
            say(said)


# ---- Texts that mean harm, in every field

EVIL = "<script>window.owned=1</script>\"onmouseover=\"window.owned=2'><img src=x onerror=window.owned=3>\u202egnp\u2066\u200b\u001b[2J javascript:window.owned=4"


def evil(who):
    return who + EVIL


def evil_fleet():
    names = [evil("cluster-a"), evil("cluster-b")]
    problem = {"condition": evil("condition"), "reason": evil("reason"), "message": evil("message")}
    row = {"name": evil("row"), "target": evil("target"), "total": 2, "updated": 1, "updating": 1, "degraded": 1, "capacity": 1, "occupied": 1,
           "halted": True, "holds": {evil("code"): 1}, "offered": evil("offered"), "problems": [problem], "unitProblems": 1}
    line = {"state": evil("state"), "lastError": evil("error"), "version": 1, "since": evil("since"), "labels": {evil("key"): evil("value")},
            "apis": [{"name": evil("api"), "state": evil("api-state"), "lastError": evil("api-error"), "rows": [row]}]}
    board = {"cluster/" + n: {"name": n, **line} for n in names}
    board["fleet"] = {"version": evil("version"), "startedAt": evil("start"), "clusters": 2, "held": 1, "standsBy": False, "asksToken": True,
                      "brake": {"on": True, "why": evil("why"), "by": evil("by"), "since": evil("since"), "only": [evil("api")], "selector": evil("selector"), "problem": evil("problem")},
                      "maxChanges": {"fleet": 30, "cluster": 5}, "natures": {evil("code"): evil("nature")},
                      "apis": [{"name": evil("api"), "row": evil("pool"), "rows": "pools", "unit": evil("node"), "units": evil("nodes"),
                                "edits": {"kind": evil("kind"), "resource": evil("resource"), "approves": True}, "kubectl": evil("kubectl"), "total": 2, "updated": 1, "updating": 1, "degraded": 1}]}
    board["timeline"] = {"revision": 1, "kept": 1}
    board["policies"] = [{"name": evil("pack"), "version": evil("v"), "folder": evil("folder"), "digest": evil("digest"), "stock": False, "order": 1,
                          "hooks": [evil("hook")], "loadedAt": evil("loaded"), "refused": evil("refused"),
                          "fault": {"hook": evil("hook"), "since": evil("since"), "count": 2, "reason": evil("fault")}}]
    unit = {"name": evil("unit"), "state": evil("unit-state"), "slotted": True, "bootedDigest": evil("booted"), "message": evil("message"), "trouble": evil("trouble")}
    status_row = {"name": evil("row"), "targetDigest": evil("target"), "updated": 1, "updating": 1, "degraded": 1, "capacity": 1, "occupied": 1, "halted": True,
                  "problems": [problem, {**problem, "unit": evil("unit")}],
                  "units": [unit, {**unit, "name": evil("other"), "trouble": ""}],
                  "holds": [{"unit": evil("unit"), "code": evil("code"), "reason": evil("reason"), "releasedBy": evil("release"),
                             "askedAgain": evil("again")}]}
    key = evil("api") + "/" + evil("row")
    history = {"points": [[1790000000, 2, 0, 0, 0, 0], [1790000100, 2, 1, 1, 1, 1]], "targets": [[1790000000, ""], [1790000050, evil("target")]]}

    def documents(name, query):
        if name == "fleet":
            return {"history": history}
        if name == "timeline":
            return {"kept": 1, "next": evil("next"), "entries": [{"at": evil("at"), "cluster": names[0], "about": evil("about"), "what": evil("what"), "by": evil("by"),
                                                                  "text": evil("text"), "warning": True, "times": 2}]}
        return {"version": 1, "at": evil("at"), "cluster": {"name": names[0], "pools": [status_row]},
                "since": {key: {evil("unit"): {"at": evil("at"), "atLeast": True}}}, "history": {key: history}}
    return board, documents, names


def harmless(b):
    board, documents, names = evil_fleet()
    stub = Stub(board, documents)
    quote = urllib.parse.quote
    path = "/".join(quote(p, safe="") for p in (names[0], evil("api"), evil("row"), evil("unit")))
    places = ["#/", "#/cluster/" + quote(names[0], safe=""), "#/cluster/" + path.rsplit("/", 1)[0], "#/cluster/" + path,
              "#/cluster/" + quote(evil("nobody"), safe=""), "#/timeline?t=" + quote(EVIL), "#/timeline/" + quote(names[0], safe=""), "#/" + quote(EVIL, safe=""), "#/?q=" + quote(EVIL) + "&state=" + quote(EVIL) + "&code=" + quote(EVIL)]
    for place in places:
        b.open("about:blank")
        b.open(stub.url + place)
        b.until("document.body.dataset.live === 'live' && !document.body.innerText.includes('Asking')", "shown: " + place[:30])
        b.run("document.querySelectorAll('*').forEach(e => e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))")
        seen = b.run(r"""(() => ({
          owned: String(window.owned), scripts: document.scripts.length,
          pictures: [...document.images].filter(i => !i.src.endsWith('/icon.svg')).length,
          handlers: [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on') || a.name === 'style' && e.id !== '' )).length,
          links: [...document.querySelectorAll('[href], [src]')].map(e => e.href?.baseVal ?? e.href ?? e.src).filter(u => !u.startsWith(location.origin)).length,
          raw: /[\u202a-\u202e\u2066-\u2069\u200b\u001b]/.test(document.documentElement.innerText + document.title + [...document.querySelectorAll('*')].flatMap(e => [...e.attributes].filter(a => a.name !== 'href' && !a.name.startsWith('data-') && !(a.name === 'value')).map(a => a.value)).join('')),
          commands: [...document.querySelectorAll('.commands code')].filter(c => /[^\x20-\x7e]/.test(c.textContent)).length,
          shown: document.body.innerText.includes('<script>window.owned=1</script>'), escaped: document.body.innerText.includes('\\u202egnp\\u2066') }))()""")
        check(seen == {"owned": "undefined", "scripts": 1, "pictures": 0, "handlers": 0, "links": 0, "raw": False, "commands": 0, "shown": True, "escaped": True},
              f"{place[:60]}: {seen}")
    check(not b.complaints, "complaints: " + "\n".join(b.complaints[:10]))
    foreign = [u for u in b.requests if not u.startswith(stub.url) and u != "about:blank"]
    check(not foreign, f"requests to others: {foreign[:5]}")
    fit_for_all(b, "harmful texts", ((1280, 800), (320, 640)))
    stub.end()
    say(f"{len(places)} views of a fleet whose every text is a script, an attribute and a bidi control: nothing ran, all is text")


# ---- 2,000 clusters

def large_fleet(n=2000):
    board, codes = {}, ["slot-full", "pdb", "draining", "rebooting", "degraded", "policy:AfterCanary"]
    states = ["Live"] * 40 + ["Stale", "Unreachable", "Syncing"]
    for i in range(n):
        updated = (i * 7) % 13
        holds = {} if updated == 12 or i % 3 else {codes[(i // 3) % 6]: 1 + i % 3}
        state = states[i % len(states)]
        line = {"name": f"cluster-{i:04}", "state": state, "version": 1, "since": "2026-11-22T08:00:00Z", "labels": {"env": ("prod", "test")[i % 2], "region": f"r{i % 9}"},
                "apis": [{"name": "bootc", "state": state, "rows": [{
                    "name": "workers", "target": "sha256:" + "2" * 64, "total": 12, "updated": min(12, updated), "updating": min(2, 12 - min(12, updated)),
                    "degraded": 1 if i % 97 == 5 else 0, "capacity": 3, "occupied": 1, "halted": False, "holds": holds,
                    "problems": [], "unitProblems": 0}]}]}
        if state == "Unreachable":
            line["lastError"] = "connect to 10.0.0.1:6443: connection refused"
        board["cluster/" + line["name"]] = line
    rows = [c["apis"][0]["rows"][0] for c in board.values()]
    total = {k: sum(r[k] for r in rows) for k in ("total", "updated", "updating", "degraded")}
    board["fleet"] = {"version": "0.1.0", "startedAt": "2026-11-22T08:00:00Z", "clusters": n, "held": sum(sum(r["holds"].values()) for r in rows),
                      "standsBy": False, "asksToken": False,
                      "natures": {"slot-full": "turn", "draining": "progress", "rebooting": "progress", "policy": "turn", "pdb": "trouble", "degraded": "trouble"},
                      "apis": [{"name": "bootc", "row": "pool", "rows": "pools", "unit": "node", "units": "nodes", **total}]}
    board["policies"] = [{"name": "default", "version": "1.2.0", "folder": "rollout/default", "digest": "sha256:" + "a1b2c3d4" * 8, "stock": True, "order": 100,
                          "hooks": ["rollout.plan"], "loadedAt": "2026-11-22T08:00:00Z"}]
    points = [[1795334400 + 60 * i, 12 * n, int(12 * n * (1 - (1 - i / 200) ** 2) * 0.52), 900, i // 12, 300 + (i * 37) % 200] for i in range(180)]
    return board, lambda name, query: {"history": {"points": points, "targets": [[points[0][0], ""]]}} if name == "fleet" else {}


def many(b):
    board, documents = large_fleet()
    stub = Stub(board, documents)
    b.looks(1280, 800)
    b.open("about:blank")
    began = time.monotonic()
    b.open(stub.url)
    b.until("document.querySelectorAll('#list li').length > 5 && document.querySelector('.plot')", "the list")
    opened = time.monotonic() - began
    measured = b.run(r"""(async () => {
      const frame = () => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
      const search = document.getElementById('search'), list = document.getElementById('list');
      const time = async (f) => { await frame(); const t = performance.now(); f(); await frame(); return Math.round(performance.now() - t); };
      const typed = await time(() => { search.value = 'cluster-19'; search.dispatchEvent(new Event('input')); });
      const found = document.getElementById('count').innerText, address = location.hash;
      await time(() => { search.value = ''; search.dispatchEvent(new Event('input')); });
      const scrolled = await time(() => { list.scrollTop = list.scrollHeight; list.dispatchEvent(new Event('scroll')); });
      const last = [...document.querySelectorAll('#list li')].pop();
      list.scrollTop = 0; list.dispatchEvent(new Event('scroll')); await frame();
      return { typed, found, address, scrolled, rows: document.querySelectorAll('#list li').length, nodes: document.querySelectorAll('*').length,
        last: last.getAttribute('aria-posinset'), of: last.getAttribute('aria-setsize'), first: document.querySelector('#list li .word').innerText };
    })()""")
    check(measured["last"] == "2000" and measured["of"] == "2000", f"the end of the list: {measured}")
    check(measured["found"].startswith("100 of"), f"searched: {measured}")
    check("q=cluster-19" in measured["address"], "the address holds the search")
    check("Unreachable" in measured["first"], f"the worst comes first: {measured}")
    check(measured["nodes"] < 1500, f"{measured['nodes']} elements")
    check(measured["typed"] < 1000 and measured["scrolled"] < 1000, f"slow: {measured}")
    say(f"2,000 clusters: open after {opened * 1000:.0f} ms, a letter searched in {measured['typed']} ms, scrolled to the end in {measured['scrolled']} ms, "
        f"{measured['nodes']} elements, {measured['rows']} rows of the list in them")
    fit_for_all(b, "2,000 clusters", ((320, 640), (390, 844), (1280, 800), (3840, 2160)))
    for width, height, scheme in ((1280, 800, "light"), (1280, 800, "dark"), (390, 844, "light")):
        b.looks(width, height, scheme)
        b.picture(PICTURES / f"2000-{width}-{scheme}.png")
    b.looks(1280, 800)
    check(not b.complaints, "complaints: " + "\n".join(b.complaints[:10]))
    stub.end()


# ---- A running demo

class Demo:
    def __init__(self, *flags, clusters=6, nodes=5):  # nodes=0: the demo has none
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="windlass-ui-")
        self.out = open(os.path.join(self.folder, "out"), "w+")
        self.process = subprocess.Popen(
            [str(BUILD / "windlass"), "demo", "--keep", "--dir", self.folder, "--clusters", str(clusters), *(["--nodes", str(nodes)] if nodes else []), "--ui", f":{self.port}", *flags],
            stdout=self.out, stderr=subprocess.STDOUT)
        self.url = f"http://127.0.0.1:{self.port}/"
        for _ in range(200):
            try:
                urllib.request.urlopen(self.url).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                check(self.process.poll() is None, "the demo ended: " + pathlib.Path(self.out.name).read_text())
                time.sleep(0.05)
        raise AssertionError("the demo's page never answered")

    def status(self):
        return json.loads(subprocess.run([str(BUILD / "windlass"), "status", "-o", "json", "--kubeconfig", os.path.join(self.folder, "kubeconfig")],
                                         check=True, capture_output=True, text=True).stdout)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def keyboard(b):
    b.run("document.activeElement.blur()")
    b.key("/")
    check(b.run("document.activeElement.id") == "search", "/ goes to the search")
    b.key("ArrowDown")
    b.key("ArrowDown")
    at = b.run("document.activeElement.closest('#list li')?.getAttribute('aria-posinset')")
    check(at == "2", f"the arrows go through the list, at {at}")
    check(b.run("getComputedStyle(document.activeElement).outlineStyle") == "solid", "the focus is seen")
    b.key("Enter")
    b.until("location.hash.startsWith('#/cluster/')", "Enter opens")
    b.key("Escape")
    b.until("!location.hash.startsWith('#/cluster/')", "Escape goes back")
    reached = set()
    b.run("document.activeElement.blur()")
    for _ in range(60):
        b.key("Tab")
        reached.add(b.run("document.activeElement.id || document.activeElement.className || document.activeElement.tagName"))
    for one in ("search", "state", "code", "row", "brand"):
        check(one in reached, f"Tab reaches {one}, of {reached}")
    say("keyboard: / searches, arrows move, Enter opens, Escape goes back, Tab reaches everything, the focus is seen")


def follow(b):
    demo = Demo()
    try:
        b.looks(1280, 800)
        b.open("about:blank")
        b.open(demo.url)
        b.until("document.body.dataset.live === 'live'", "live")
        b.until("/of 30 nodes updated/.test(document.body.innerText)", "the fleet")
        say(f"opened {demo.url} on a running demo")
        numbers = "Number(document.querySelector('main .big strong').innerText)"
        went = []
        end = time.monotonic() + 150
        while time.monotonic() < end:
            n = b.run(numbers)
            if n is not None and (not went or went[-1] != n):
                went.append(n)
            # The mishaps hold two: a budget, and a node that cannot boot.
            if n == 28 and len(went) > 4 and "2 held" in b.run("document.getElementById('totals').innerText"):
                break
            if len(went) == 8:
                b.picture(PICTURES / "moving-1280-light.png")
            time.sleep(0.2)
        check(went[-1] == 28 and len(went) > 6, f"it went {went}")
        say(f"followed the rollout to its end: {' → '.join(map(str, went))} of 30")
        time.sleep(2.5)
        status = demo.status()
        page = b.run(r"""(() => ({ updated: Number(document.querySelector('main .big strong').innerText),
          held: Number(document.querySelector('.tile.held dd')?.innerText ?? 0), clusters: Number(document.querySelector('.tile dd').innerText) }))()""")
        check(page == {"updated": status["updated"], "held": status["held"], "clusters": len(status["clusters"])}, f"page {page}, status {status['updated']} {status['held']}")
        codes = sorted(h["code"] for c in status["clusters"] for p in c["pools"] for h in p["holds"])
        told = sorted(b.run("[...document.querySelectorAll('[aria-labelledby=h-holds] tbody th a')].map(a => a.innerText)"))
        check(sorted(set(codes)) == told, f"status holds {codes}, the page {told}")
        say(f"page and `windlass status` say the same: {page['updated']} updated, held: {', '.join(codes)}")
        b.picture(PICTURES / "fleet-1280-light.png")
        fit_for_all(b, "the fleet", ((320, 640), (390, 844), (1280, 800)))
        b.looks(1280, 800, "dark")
        b.picture(PICTURES / "fleet-1280-dark.png")
        b.looks(1280, 800)
        b.run("[...document.querySelectorAll('main tbody th a')].find(a => a.innerText === 'pdb').click()")
        b.until("location.hash.includes('code=pdb') && document.querySelectorAll('#list li').length === 1", "one cluster is held by a budget")
        b.run("document.querySelector('#list li a').click()")
        b.until("document.querySelector('.holds')", "its pool")
        b.picture(PICTURES / "pool-1280-light.png")
        fit_for_all(b, "a pool", ((320, 640), (1280, 800)))
        b.run("document.querySelector('.holds .who a').click()")
        text = b.until("document.querySelector('.hold') && document.querySelector('main').innerText", "the held unit")
        check("pdb" in text and "allows no eviction of" in text and "released by" in text and "since" in text, text)
        unit = b.run("document.querySelector('main h1').innerText")
        fit_for_all(b, "a held unit", ((320, 640), (1280, 800)))
        b.looks(1280, 800)
        b.picture(PICTURES / "unit-1280-light.png")
        say(f"opened the held unit {unit}: " + b.run("document.querySelector('.why').innerText"))
        address = b.run("location.href")
        b.open("about:blank")
        b.open(address)
        b.until("document.querySelector('.hold')", "the same unit by its address")
        b.run("document.querySelectorAll('.crumbs a')[2].click()")
        b.until("!document.querySelector('.hold .facts') && document.querySelector('.holds')", "the pool by its crumb")
        points = b.run("document.querySelector('.line.updated').getAttribute('d').split('V').length")
        check(points > 3, f"the plot survived the reload: {points} steps")
        b.run("history.back()")
        b.until("document.querySelector('.hold .facts')", "back to the unit")
        say(f"the address opens it again, the back button goes back, the plot has its {points} steps after the reload")
        b.looks(390, 844)
        b.run("location.hash = '#/'")
        b.until("document.body.dataset.open === 'fleet'", "the fleet")
        b.picture(PICTURES / "fleet-390-light.png")
        b.looks(1280, 800)
        keyboard(b)
        b.looks(1280, 800, motion="reduce")
        check(b.run("getComputedStyle(document.querySelector('.bar rect')).transitionDuration") in ("0s", ""), "nothing moves where motion is not wanted")
        check(not b.complaints, "complaints: " + "\n".join(b.complaints[:10]))
        demo.end()
        banner = b.until("!document.getElementById('banner').hidden && document.getElementById('banner').innerText", "it says that nobody answers")
        check("Not connected since" in banner, banner)
        b.picture(PICTURES / "lost-1280-light.png")
        found = b.run(CHECKS)
        check(not found["wrong"], "not connected: " + "\n".join(found["wrong"][:10]))
        say("when the demo ended: " + banner)
        b.complaints.clear()  # that nobody answered any more
    finally:
        demo.end()


# ---- What happened, who asked for it, and how to do something: by keyboard alone, and at the width of a telephone

def write(b, text):
    for letter in text:
        b.key(letter)


def tab_to(b, what, most=200):
    for _ in range(most):
        b.key("Tab")
        if b.run(f"document.activeElement.matches({json.dumps(what)})"):
            return
    raise AssertionError(f"Tab never reaches {what}")


def answer(url, accept):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept})) as a:
            return a.status, a.url, a.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, url, e.read().decode()


def timeline(b):
    demo = Demo(clusters=3, nodes=4)
    try:
        b.looks(1280, 800)
        b.open("about:blank")
        b.call("Browser.grantPermissions", origin=demo.url.rstrip("/"), permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        b.open(demo.url)
        b.until("document.body.dataset.live === 'live' && document.querySelector('.timeline li')", "the newest on the fleet's view")
        b.key("t")
        b.until("document.querySelector('main h1').innerText === 'Timeline' && document.querySelector('.timeline .by')", "t opens the timeline")
        b.until("document.querySelectorAll('.timeline li').length > 20", "what happens", 60)
        all_entries = b.run("document.querySelectorAll('.timeline li').length")
        fit_for_all(b, "the timeline", ((320, 640), (390, 844), (1280, 800)))
        for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
            b.looks(width, 844, scheme)
            b.picture(PICTURES / f"timeline-{width}-{scheme}.png")
        b.looks(390, 844)
        b.run("document.activeElement.blur()")
        b.key("/")
        check(b.run("document.activeElement.id") == "search-time", "/ goes to the timeline's search")
        write(b, "kubectl-edit cluster-002")
        b.until("document.querySelectorAll('.timeline li').length === 1 && location.hash.includes('t=kubectl-edit')", "the search finds one, and the address has it")
        found = b.run("document.querySelector('.timeline li').innerText")
        check("asks for" in found and "cluster-002" in found and "by kubectl-edit" in found, found)
        b.call("Page.reload")
        b.until("document.querySelectorAll('.timeline li').length === 1 && document.getElementById('search-time').value === 'kubectl-edit cluster-002'", "the reload keeps search and result")
        b.run("history.back()")
        b.until(f"document.querySelectorAll('.timeline li').length >= {min(all_entries, 50)} && document.getElementById('search-time').value === ''", "back: everything, and an empty search")
        b.run("history.forward()")
        b.until("document.querySelectorAll('.timeline li').length === 1 && document.getElementById('search-time').value !== ''", "forward: the search and its result")
        tab_to(b, ".timeline a")
        b.key("Enter")
        b.until("location.hash.startsWith('#/cluster/cluster-002/bootc/workers')", "Enter on an entry opens its pool")
        b.until("document.querySelector('.commands')", "its commands")
        say(f"timeline at 390 px by keyboard: t opens it ({all_entries} entries), / searches it, reload, back and forward keep search and result, Enter opens the pool of: {found.splitlines()[-1]}")
        tab_to(b, ".copy")
        command = b.run("document.activeElement.parentElement.querySelector('code').innerText")
        check(command == "windlass rollout pause workers --cluster cluster-002", command)
        b.key("Enter")
        b.until("document.activeElement.innerText === 'Copied'", "Enter copies")
        copied = b.run("navigator.clipboard.readText()")
        check(copied == command, f"copied {copied}, not {command}")
        b.run("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
        tab_to(b, ".copy")
        other = b.run("document.activeElement.parentElement.querySelector('code').innerText")
        b.key("Enter")
        b.until("/Ctrl\\+C/.test(document.activeElement.parentElement.innerText)", "where the browser refuses, the page says what to press")
        check(b.run("getSelection().toString()") == other, "the command is selected")
        check("Selected" in b.run("document.getElementById('spoken').innerText"), "and a reader of the screen is told")
        fit_for_all(b, "a pool with its commands", ((390, 844), (1280, 800)))
        b.looks(390, 844)
        b.picture(PICTURES / "commands-390-light.png")
        for _ in range(12):  # the demo's servers are away for a while now and then
            done = subprocess.run([str(BUILD / "windlass"), *command.split()[1:], "--kubeconfig", os.path.join(demo.folder, "kubeconfig")], capture_output=True, text=True)
            if "is Unreachable" not in done.stderr:
                break
        check(done.returncode == 0 and "cluster-002" in done.stdout and "paused" in done.stdout, f"the copied command: {done.returncode} {done.stdout} {done.stderr}")
        say(f"copied by keyboard and run: {command}; refused by the browser it is selected and said")
        b.run("document.activeElement.blur()")
        b.key("?")
        b.until("document.getElementById('help').open", "? opens the help")
        fit_for_all(b, "the help", ((390, 844), (1280, 800)))
        b.picture(PICTURES / "keys-1280.png")
        b.key("Escape")
        b.until("!document.getElementById('help').open", "Escape closes it")
        check(b.run("location.hash").startswith("#/cluster/cluster-002"), "and nothing else")
        b.run("document.getElementById('keys').click(); document.getElementById('single').click(); document.getElementById('help').close(); document.activeElement.blur()")
        b.key("t")
        check(b.run("location.hash").startswith("#/cluster/cluster-002"), "letters do nothing where they are switched off")
        b.run("localStorage.clear()")
        for path, sentence in (("nothing", "nothing at /nothing"), ("cluster/nobody", "no cluster"), ("cluster/cluster-001/bootc/nobody", "no pool"),
                               ("cluster/cluster-001/bootc/workers/nobody", "no node")):
            status, _, body = answer(demo.url + path, "text/html")
            check(status == 404 and sentence in body, f"/{path}: {status} {body[:300]}")
            check(answer(demo.url + path, "*/*")[0] == 404, path)
        b.open(demo.url + "cluster/cluster-001/bootc/nobody")
        b.until("document.querySelector('h1')?.innerText === 'Not found' && getComputedStyle(document.querySelector('main')).borderTopWidth === '1px'", "a page that says so, with its style")
        fit_for_all(b, "not found", ((390, 844), (1280, 800)))
        b.picture(PICTURES / "missing-1280.png")
        b.complaints.clear()  # the 404 itself
        b.open(demo.url + "cluster/cluster-001/bootc/workers")
        b.until("location.hash === '#/cluster/cluster-001/bootc/workers' && document.querySelector('main h1')?.innerText === 'cluster-001'", "the address of a pool opens it")
        check(not b.complaints, "complaints: " + "\n".join(b.complaints[:10]))
        say("addresses: of what is there they open it, of what is not they answer 404 with a page that says so")
    finally:
        demo.end()


# ---- A FleetChart: a row of home, with a line for each cluster

def charts(b):
    demo = Demo("--charts", clusters=20, nodes=0)
    row = "home/fleetcharts/" + urllib.parse.quote("default/storefront", safe="")
    try:
        b.looks(1280, 800)
        b.open("about:blank")
        b.open(demo.url + "#/cluster/" + row)
        ready = "/20 of 20 members updated to .*storefront:1.0.0/.test(document.querySelector('main').innerText) && document.querySelector('.holds .good')"
        b.until("/Halted/.test(document.querySelector('main')?.innerText)", "the canaries fail, and the row says that it is halted", 200)
        b.until(ready, "it is undone, every cluster is ready, and nothing is held", 200)
        b.until("document.querySelectorAll('main tbody .state.done').length === 20", "every line is drawn as done")
        fit_for_all(b, "a FleetChart", ((320, 640), (390, 844), (1280, 800)))
        b.run("document.querySelector('main tbody a').click()")
        b.until("/Nothing holds it: it runs the target/.test(document.querySelector('main').innerText)", "one cluster of it")
        fit_for_all(b, "a cluster of a FleetChart", ((320, 640), (1280, 800)))
        b.looks(1280, 800)
        b.picture(PICTURES / "chart-cluster-1280.png")
        b.run("history.back()")
        # Now it is a person's: the bad version once more, which stays halted.
        home = re.search(r'server: "(http[^"]+/home)"', pathlib.Path(demo.folder, "kubeconfig").read_text()).group(1)
        urllib.request.urlopen(urllib.request.Request(home + "/apis/fleet.windlass.dev/v1alpha1/namespaces/default/fleetcharts/storefront", method="PATCH",
                                                      data=b'{"spec":{"chart":{"version":"1.1.0"}}}', headers={"Content-Type": "application/merge-patch+json"})).close()
        lines = "[...document.querySelectorAll('main tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))"
        b.until(f"/Halted/.test(document.querySelector('main')?.innerText) && {lines}.filter(c => c[2] === 'cluster-failed').length === 2", "both canaries fail", 200)
        halted, rows = b.run("document.querySelector('main').innerText"), b.run(lines)
        for words in ("its tests:", "2 clusters failed", "storefront:1.1.0"):
            check(words in halted, f"the halted row says {words}: {halted}")
        head = b.run("[...document.querySelectorAll('main thead th')].map(h => h.innerText)")
        check(head == ["Member", "State", "Held by", "Wave", "Revision"], f"columns {head}")
        waits = {(r[2], r[3]) for r in rows if r[0] not in ("cluster-001", "cluster-002")}
        check(len(rows) == 20 and waits == {("rollout-halted", "early"), ("rollout-halted", "others")}, f"{rows}")
        check({r[4] for r in rows[:2]}.isdisjoint({r[4] for r in rows[2:]}), f"canaries have another revision than the others: {rows}")
        shown = b.run("[...document.querySelectorAll('.commands code')].map(c => c.innerText)")
        check([c.split()[2] for c in shown] == ["status", "plan", "diff", "history", "pause", "undo", "retry"], f"commands {shown}")
        for line in shown:
            ran = subprocess.run([str(BUILD / "windlass"), *shlex.split(line)[1:], "--kubeconfig", str(pathlib.Path(demo.folder, "kubeconfig"))], capture_output=True, text=True, timeout=120)
            check(ran.returncode == 0, f"{line}: {ran}")
        for width in (320, 390, 1280):
            b.looks(width, 844)
            b.picture(PICTURES / f"chart-halted-{width}.png")
        fit_for_all(b, "a halted FleetChart", ((320, 640), (390, 844), (1280, 800)))
        b.looks(1280, 800)
        b.run("location.hash = '#/?q=storefront'")
        b.until("document.querySelectorAll('#list li').length === 1 && /home/.test(document.getElementById('list').innerText)", "a search for its name finds home")
        fit_for_all(b, "a fleet of charts", ((320, 640), (390, 844), (1280, 800)))
        b.looks(1280, 800)
        b.picture(PICTURES / "charts-1280.png")
        check(not b.complaints, "complaints: " + "\n".join(b.complaints[:10]))
        say("a FleetChart: undone, halted with its reason, a line for each cluster with wave and revision, found by its name")
    finally:
        demo.end()


def locked(b):
    token = tempfile.NamedTemporaryFile("w", suffix=".token")
    token.write("a-token-for-the-page\n")
    token.flush()
    demo = Demo("--ui-token-file", token.name, clusters=1, nodes=4)
    try:
        b.looks(1280, 800)
        b.open("about:blank")
        b.open(demo.url + "#/cluster/cluster-001")
        b.until("document.getElementById('token')", "the form")
        fit_for_all(b, "the form", ((320, 640), (1280, 800)))
        b.complaints.clear()  # the 401 itself
        b.run("document.getElementById('token').value = 'not-the-right-token'; document.querySelector('button').click()")
        b.until("document.getElementById('refused') && !document.getElementById('refused').hidden", "refused")
        b.run("document.getElementById('token').value = 'a-token-for-the-page'; document.querySelector('button').click()")
        b.until("document.querySelector('main h1')?.innerText === 'cluster-001' && document.querySelector('.plot')", "let in, at what the address had open")
        check(b.run("document.cookie") == "", "scripts do not see the cookie")
        b.picture(PICTURES / "one-cluster-1280-light.png")
        b.complaints.clear()
        b.run("document.getElementById('logout').click()")
        b.until("document.getElementById('token')", "logged out")
        b.complaints.clear()
        say("a token is asked for, a wrong one refused, the right one opens what the address had, logging out closes it")
    finally:
        demo.end()


# ---- What readers cost; by hand: ui.py BUILD_FOLDER readers [CLUSTERS]

class Reader(threading.Thread):
    def __init__(self, port):
        super().__init__(daemon=True)
        self.first, self.bytes, self.events, self.complete = 0, 0, 0, threading.Event()
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(b"GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n")
        self.start()

    def run(self):
        for line in self.socket.makefile("rb"):
            self.bytes += len(line)
            if line.startswith(b"data: "):
                self.events += 1
                if not self.complete.is_set() and b',"more":true' not in line[-20:]:
                    self.first = self.bytes
                    self.complete.set()


def readers():
    clusters = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    demo = Demo(clusters=clusters, nodes=12 if clusters <= 200 else 4)
    ui, metrics = free_port(), free_port()
    run = subprocess.Popen([str(BUILD / "windlass"), "run", "--kubeconfig", os.path.join(demo.folder, "kubeconfig"), "--ui", f":{ui}", "--metrics-bind-address",
                            f"127.0.0.1:{metrics}", "--health-probe-bind-address", "0", "--log-level", "error"])

    def stall():
        text = urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics").read().decode()
        return 1000 * float(re.search(r"^windlass_loop_longest_stall_seconds (\S+)", text, re.M).group(1))

    def processor():
        return sum(map(int, pathlib.Path(f"/proc/{run.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def span(what, seconds, all_readers=()):
        stall()
        before, began, had = processor(), time.monotonic(), sum(r.bytes for r in all_readers)
        time.sleep(seconds)
        used = (processor() - before) / (time.monotonic() - began)
        sent = (sum(r.bytes for r in all_readers) - had) / max(1, len(all_readers)) / seconds
        say(f"{what}: longest stall {stall():.2f} ms, {100 * used:.1f} % of a processor, {sent:.0f} bytes a second to each reader")

    try:
        while True:
            time.sleep(1)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{ui}/data/fleet") as answer:
                    points = json.load(answer)["history"]["points"]
                if points and points[-1][1] >= 0.99 * clusters * (12 if clusters <= 200 else 4):
                    break
            except (OSError, IndexError):
                check(run.poll() is None, "run ended")
        span(f"{clusters} clusters in a rollout, no reader", 15)
        all_readers = [Reader(ui) for _ in range(20)]
        stall()
        for r in all_readers:
            check(r.complete.wait(60), "a reader was told everything")
        say(f"20 readers come at once: longest stall {stall():.2f} ms, {all_readers[0].first} bytes each to know everything")
        span(f"{clusters} clusters in a rollout, 20 readers", 20, all_readers)
        last = -1
        for _ in range(60):
            now = sum(r.bytes for r in all_readers)
            if now - last < 20 * 3000:
                break
            last = now
            time.sleep(5)
        span(f"{clusters} clusters at rest, 20 readers", 30, all_readers)
        for r in all_readers:
            r.socket.shutdown(socket.SHUT_RDWR)
        time.sleep(1)
        span(f"{clusters} clusters at rest, no reader", 30)
    finally:
        run.terminate()
        run.wait(20)
        demo.end()


def main():
    if not shutil.which("chromium"):
        print("ui: SKIPPED: no chromium (./dev setup live installs it)")
        return
    if sys.argv[2:3] == ["readers"]:
        readers()
        return
    with tempfile.TemporaryDirectory(prefix="windlass-chromium-", ignore_cleanup_errors=True) as folder:
        b = Browser(folder)
        try:
            for part in (harmless, many, follow, timeline, charts, locked):
                if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]:
                    b.open("about:blank")
                    b.run("0")
                    b.complaints.clear()  # of a page whose service has ended
                    part(b)
        finally:
            b.close()
    if not AXE.is_file():
        print("ui: SKIPPED: axe-core: it is not here (./dev setup live fetches it)")
    say(f"pictures in {PICTURES}")


main()
