#!/usr/bin/env python3
"""Keeps one chart installed for each Tenant on two real API servers: section 14 of the contract, with stock helm beside us.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_SECOND=F KUBEBUILDER_ASSETS=D tests/live/tenants.py BUILD_FOLDER

The first server is home and a member of its own fleet, the second is `demo-remote-1`. Plays what a bare API server has not: the
controllers of Deployments and of namespaces. The chart comes from a repository whose failures can be switched on.
In one file: each part goes on from the fleet that the part before it has left.
Stock helm (3) is $HELM, ~/go/bin/helm or the one on PATH; without it the test is skipped.
"""
import base64
import datetime
import gzip
import hashlib
import http.client
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True

BUILD = pathlib.Path(sys.argv[1]).resolve()
HOME, REMOTE = "self-cluster", "demo-remote-1"
HELM = os.environ.get("HELM") or next((str(p) for p in [pathlib.Path.home() / "go/bin/helm"] if p.exists()), None) or shutil.which("helm")
TENANTS = "/apis/mesh.openkcm.io/v1alpha1/tenants"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tenants.mesh.openkcm.io"
PREFIX = "e2e-"
now = lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def until(true, what, limit=60):
    end = time.monotonic() + limit
    while True:
        seen = true()
        if seen:
            return seen
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {limit} s")
        time.sleep(0.2)


class Cluster:
    def __init__(self, name, kubeconfig):
        self.name, self.kubeconfig = name, kubeconfig
        text = pathlib.Path(kubeconfig).read_text()
        field = lambda key: re.search(key + r':\s*"([^"]+)"', text).group(1)
        self.host, self.token = field("server").removeprefix("https://"), field("token")
        self.trust = ssl.create_default_context(cafile=field("certificate-authority"))
        self.trust.check_hostname = False  # the certificate names kubernetes, and the loopback address has no name
        self.had_kind = self.ask("GET", CRD)[0] == 200

    def ask(self, method, path, body=None, kind="application/json"):
        connection = http.client.HTTPSConnection(self.host, context=self.trust, timeout=60)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Authorization": "Bearer " + self.token, "Content-Type": kind, "Accept": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def items(self, path):
        code, answer = self.ask("GET", path)
        return answer["items"] if code == 200 else []

    def tenant(self, name):
        return self.ask("GET", f"/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/{name}")

    def phase(self, name):
        return (self.tenant(name)[1].get("status") or {}).get("phase")

    def fingerprint(self, name):
        return (self.tenant(name)[1]["metadata"].get("annotations") or {}).get(f"mesh.openkcm.io/fingerprint-{self.name}")

    def apply(self, name):
        subprocess.run([os.environ["KUBEBUILDER_ASSETS"] + "/kubectl", "--kubeconfig", self.kubeconfig, "apply", "-f", "-"], check=True, text=True, timeout=60, stdout=subprocess.DEVNULL,
                       input=json.dumps({"apiVersion": "mesh.openkcm.io/v1alpha1", "kind": "Tenant", "metadata": {"name": name, "namespace": "default"}, "spec": {}}))

    def delete(self, name):
        self.ask("DELETE", f"/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/{name}")

    def helm(self, *arguments, namespace=None):
        done = subprocess.run([HELM, *arguments, "--kubeconfig", self.kubeconfig, *(["-n", namespace] if namespace else [])],
                              capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{self.name}: helm {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def releases(self, *more):
        return {r["name"]: r for r in json.loads(self.helm("list", "-A", "-a", *more, "-o", "json"))}

    def records(self):
        return [s for s in self.items("/api/v1/secrets?labelSelector=owner%3Dhelm") if s["metadata"]["namespace"].startswith(PREFIX)]

    def reasons(self, name):
        found = [e for e in self.items("/api/v1/namespaces/default/events") if e["involvedObject"].get("name") == name and e["involvedObject"]["kind"] == "Tenant"]
        return [e["reason"] for e in sorted(found, key=lambda e: e["eventTime"] or "")]

    def play(self):
        """One step of what kube-controller-manager does, for what the test made."""
        for d in self.items("/apis/apps/v1/deployments"):
            meta = d["metadata"]
            if not meta["namespace"].startswith(PREFIX) or "deletionTimestamp" in meta:
                continue
            code = hashlib.sha256(json.dumps(d["spec"]["template"], sort_keys=True).encode()).hexdigest()[:9]
            name, place = f"{meta['name']}-{code}", f"/apis/apps/v1/namespaces/{meta['namespace']}"
            wanted = d["spec"].get("replicas", 1)
            if self.ask("GET", f"{place}/replicasets/{name}")[0] == 404:
                template = json.loads(json.dumps(d["spec"]["template"]))
                template["metadata"].setdefault("labels", {})["pod-template-hash"] = code
                self.ask("POST", f"{place}/replicasets", {
                    "apiVersion": "apps/v1", "kind": "ReplicaSet",
                    "metadata": {"name": name, "labels": template["metadata"]["labels"],
                                 "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": meta["name"], "uid": meta["uid"], "controller": True}]},
                    "spec": {"replicas": wanted, "template": template, "selector": {"matchLabels": d["spec"]["selector"]["matchLabels"] | {"pod-template-hash": code}}}})
            if "never" in d["spec"]["template"]["spec"]["containers"][0]["image"]:
                continue
            ready = {"replicas": wanted, "readyReplicas": wanted, "availableReplicas": wanted}
            if d.get("status", {}).get("observedGeneration") != meta["generation"]:
                self.ask("PATCH", f"{place}/replicasets/{name}/status", {"status": ready | {"observedGeneration": 1}}, "application/merge-patch+json")
                self.ask("PATCH", f"{place}/deployments/{meta['name']}/status", {"status": ready | {
                    "updatedReplicas": wanted, "observedGeneration": meta["generation"]}}, "application/merge-patch+json")
        for ns in self.items("/api/v1/namespaces"):
            name = ns["metadata"]["name"]
            if not name.startswith(PREFIX) or "deletionTimestamp" not in ns["metadata"]:
                continue
            for kind in ("/api/v1/namespaces/%s/secrets", "/api/v1/namespaces/%s/configmaps", "/api/v1/namespaces/%s/serviceaccounts",
                         "/apis/apps/v1/namespaces/%s/deployments", "/apis/apps/v1/namespaces/%s/replicasets", "/api/v1/namespaces/%s/events"):
                self.ask("DELETE", kind % name)
            self.ask("PUT", f"/api/v1/namespaces/{name}/finalize", ns | {"spec": {"finalizers": []}})

    def forget(self):
        """As it was, although nobody is there any more who would let a Tenant go."""
        for t in self.items(TENANTS):
            name = t["metadata"]["name"]
            if name.startswith(PREFIX):
                self.ask("PATCH", f"/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/{name}", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
                self.delete(name)
        for ns in self.items("/api/v1/namespaces"):
            if ns["metadata"]["name"].startswith(PREFIX):
                self.ask("DELETE", "/api/v1/namespaces/" + ns["metadata"]["name"])
        until(lambda: self.play() or not [n for n in self.items("/api/v1/namespaces") if n["metadata"]["name"].startswith(PREFIX)], "namespaces go", 30)
        for name in (HOME, REMOTE):
            self.ask("DELETE", f"/api/v1/namespaces/default/secrets/{name}")
        self.ask("DELETE", "/apis/coordination.k8s.io/v1/namespaces/default/leases/krypton-operator")
        if not self.had_kind:
            self.ask("DELETE", CRD)
            until(lambda: self.ask("GET", CRD)[0] == 404, "the kind goes", 30)


TEMPLATE = """apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {version: {{ .Chart.Version | quote }}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers: [{name: main, image: "registry.example.com/demo:{{ .Chart.Version }}{{ .Values.suffix }}"}]
"""


class Repository(http.server.ThreadingHTTPServer):
    """Of one chart; `mode` is ok, down, html or truncated."""

    daemon_threads = True

    def __init__(self):
        self.charts, self.mode, self.asked = {}, "ok", []
        for version in ("1.0.0", "1.1.0", "1.2.0"):
            self.charts[version] = self.pack(version)
        self.index = json.dumps({"apiVersion": "v1", "entries": {"demo": [
            {"apiVersion": "v2", "name": "demo", "version": v, "urls": [f"demo-{v}.tgz"], "digest": hashlib.sha256(b).hexdigest(),
             "created": "2026-01-01T00:00:00Z"} for v, b in self.charts.items()]}}).encode()
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @staticmethod
    def pack(version):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            for name, text in {"Chart.yaml": f"apiVersion: v2\nname: demo\nversion: {version}\n", "values.yaml": 'suffix: ""\n', "templates/all.yaml": TEMPLATE}.items():
                entry = tarfile.TarInfo("demo/" + name)
                entry.size = len(text.encode())
                tar.addfile(entry, io.BytesIO(text.encode()))
        return out.getvalue()

    def downloads(self):
        return len([path for path in self.asked if path.endswith(".tgz")])


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        of = self.server
        of.asked.append(self.path)
        version = self.path.removeprefix("/demo-").removesuffix(".tgz")
        body, tag = (of.index, '"one"') if self.path == "/index.yaml" else (of.charts.get(version), None)
        if of.mode == "down":
            return self.send_error(503)
        if body is None:
            return self.send_error(404)
        if tag and self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            return self.end_headers()
        if of.mode == "html" and tag:
            body = b"<html><body>Sign in</body></html>"
        if of.mode == "truncated" and not tag:
            body = body[:len(body) // 2]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if tag:
            self.send_header("ETag", tag)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Scene:
    def __init__(self, folder):
        self.folder, self.service, self.counts, self.behind = folder, None, {}, {}
        self.home, self.remote = Cluster(HOME, os.environ["WINDLASS_LIVE_KUBECONFIG"]), Cluster(REMOTE, os.environ["WINDLASS_LIVE_SECOND"])
        self.clusters = [self.home, self.remote]
        self.repository = Repository()
        self.log = open(folder / "run.log", "a")
        self.ending, self.problem = threading.Event(), None
        self.player = threading.Thread(target=self.play)
        self.player.start()

    def play(self):
        try:
            while not self.ending.wait(0.2):
                for c in self.clusters:
                    c.play()
        except Exception as why:  # noqa: BLE001  whoever waits says it
            self.problem = why

    def count(self, what, by=1):
        self.counts[what] = self.counts.get(what, 0) + by

    def start(self, version="1.0.0", *more):
        ports = []
        for _ in range(2):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                ports.append(s.getsockname()[1])
        self.metrics_at, self.health_at = ports
        self.service = subprocess.Popen(
            [BUILD / "windlass", "run", "--kubeconfig", self.home.kubeconfig, "--fleet", "secrets", "--apis", "tenants", "--leader-elect", "--chart-repo", self.repository.url,
             "--chart-name", "demo", "--chart-version", version, "--metrics-bind-address", f"127.0.0.1:{ports[0]}",
             "--health-probe-bind-address", f"127.0.0.1:{ports[1]}", *more],
            stdout=self.log, stderr=self.log, env=os.environ | {"KRYPTON_CHECK_INTERVAL": "5s", "WATCH_NAMESPACE": "default"})

    def end(self):
        began = time.monotonic()
        self.service.terminate()
        code = self.service.wait(20)
        self.service = None
        if code:
            raise RuntimeError(f"windlass run ended with {code}")
        self.counts["term_s"] = round(max(self.counts.get("term_s", 0), time.monotonic() - began), 1)

    def kill(self):
        if self.service:
            self.service.kill()
            self.service.wait()
            self.service = None

    def until(self, true, what, limit=60):
        def seen():
            if self.problem:
                raise RuntimeError(f"what is played: {self.problem}")
            if self.service and self.service.poll() is not None:
                raise RuntimeError(f"windlass run ended with {self.service.poll()}")
            return true()
        try:
            return until(seen, what, limit)
        except RuntimeError as why:
            raise RuntimeError(f"{why}; behind: {self.behind}") from None

    def ask(self, port, path):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).read().decode()
        except OSError:
            return ""

    def states(self):
        text = self.ask(self.health_at, "/clusters")
        return {c["name"]: c for c in json.loads(text)} if text else {}

    def said(self, text):
        self.log.flush()
        return text in (self.folder / "run.log").read_text(errors="replace")

    def ready(self, c, *names, version):
        """Ready on the state that is wanted now."""
        chart = f"{self.repository.url}/demo:{version}"
        self.behind = {}
        for name in names:
            status = c.tenant(name)[1].get("status") or {}
            if status.get("phase") != "Ready" or status.get("lastAppliedChart") != chart:
                self.behind[name] = {k: status.get(k) for k in ("phase", "lastAppliedChart", "lastMessage")}
        return not self.behind


def join(s, name, kubeconfig):
    text = subprocess.run([os.environ["KUBEBUILDER_ASSETS"] + "/kubectl", "--kubeconfig", kubeconfig, "config", "view", "--raw", "--flatten"],
                          capture_output=True, check=True, timeout=60).stdout
    s.home.ask("POST", "/api/v1/namespaces/default/secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default", "labels": {"sigs.k8s.io/multicluster-runtime-kubeconfig": "true"}},
        "data": {"kubeconfig": base64.b64encode(text).decode()}})


def age(secret, by):
    """The record of a release as if that many seconds had passed since it was written."""
    record = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(secret["data"]["release"]))))
    then = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=by)).isoformat()
    record["info"]["last_deployed"] = record["info"]["first_deployed"] = then
    return base64.b64encode(base64.b64encode(gzip.compress(json.dumps(record).encode()))).decode()


def end_to_end(s):
    join(s, HOME, s.home.kubeconfig)
    join(s, REMOTE, s.remote.kubeconfig)
    s.start()
    s.until(lambda: {n: c["state"] for n, c in s.states().items()} == {HOME: "Live", REMOTE: "Live"}, "both clusters are engaged")
    lease = s.home.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/krypton-operator")
    assert lease[0] == 200, lease
    name = PREFIX + "acme"
    for c in s.clusters:
        c.apply(name)
    for c in s.clusters:
        s.until(lambda: c.phase(name) == "Ready", f"{name} is Ready on {c.name}", 90)
        s.count("ready")
        release = f"tenant-{name}-{c.name}"
        listed = c.releases()[release]
        assert listed["status"] == "deployed" and listed["chart"] == "demo-1.0.0" and listed["namespace"] == name, listed
        assert "kind: Deployment" in c.helm("get", "manifest", release, namespace=name)
        assert c.helm("status", release, namespace=name) and c.helm("history", release, namespace=name)
        s.count("helm_reads", 4)
        wanted = ["WorkspaceCreated", "PhaseSet", "HelmInstallStart", "HelmInstalled", "FingerprintUpdated"]
        s.until(lambda: [r for r in c.reasons(name) if r in wanted] == wanted + ["PhaseSet"], f"events on {c.name}: {c.reasons(name)}", 15)
    print(f"tenant phase is Ready on remote cluster: {name}", flush=True)
    for line in ("workspace workspace namespace created", "helm install success"):
        assert s.said(line), line
    metrics = s.ask(s.metrics_at, "/metrics")
    for c in s.clusters:
        assert f'krypton_tenants_ready{{cluster="{c.name}"}} 1' in metrics, metrics
    assert s.states()[REMOTE]["tenants"] == {"Ready": 1, "Pending": 0, "Error": 0}, s.states()


def restart(s):
    name, before, downloads = PREFIX + "acme", {c.name: len(c.records()) for c in s.clusters}, s.repository.downloads()
    s.end()
    s.repository.mode = "down"
    s.start()
    for c in s.clusters:
        s.until(lambda: "HelmSkip" in c.reasons(name), f"{name} is skipped on {c.name}")
        assert c.phase(name) == "Ready"
    assert s.said("fingerprint unchanged")
    assert before == {c.name: len(c.records()) for c in s.clusters} and downloads == s.repository.downloads()
    s.repository.mode = "ok"
    s.count("skipped", 2)


def stock_helm(s):
    """Somebody else upgrades, then rolls back: what it became is drift, which is told, and the next version goes on from there."""
    name, c = PREFIX + "acme", s.remote
    release, chart = f"tenant-{name}-{c.name}", s.folder / "demo-1.2.0.tgz"
    chart.write_bytes(s.repository.charts["1.2.0"])
    c.helm("upgrade", release, str(chart), namespace=name)
    s.until(lambda: "DriftDetected" in c.reasons(name), "what stock helm did is told")
    c.helm("rollback", release, "1", namespace=name)
    s.count("helm_writes", 2)
    s.end()
    s.start("1.1.0")
    for one in s.clusters:
        s.until(lambda: s.ready(one, name, version="1.1.0"), f"{name} is upgraded on {one.name}", 90)
    assert s.said("helm upgrade success")
    history = json.loads(c.helm("history", release, "-o", "json", namespace=name))
    assert [h["chart"] for h in history] == ["demo-1.0.0", "demo-1.2.0", "demo-1.0.0", "demo-1.1.0"], history
    assert [h["status"] for h in history] == ["superseded"] * 3 + ["deployed"], history
    s.count("upgraded", 2)


def failures(s):
    """A repository that fails in three ways: said, and nothing is installed; when it is back, what waited is."""
    c = s.remote
    for at, mode in enumerate(("html", "truncated", "down")):
        s.end()
        s.repository.mode = mode
        shutil.rmtree(pathlib.Path(os.environ["HELM_REPOSITORY_CACHE"]), ignore_errors=True)
        s.start("1.2.0")
        name = f"{PREFIX}fails-{mode}"
        c.apply(name)
        s.until(lambda: c.phase(name) == "Error", f"{name} is Error")
        s.until(lambda: "ChartNotLoaded" in c.reasons(name), f"{name} says why")
        assert f"tenant-{name}-{c.name}" not in c.releases() and c.fingerprint(name) is None
        s.count("chart_failures")
    assert s.said("chart not loaded; skipping helm action")
    s.repository.mode = "ok"
    names = [f"{PREFIX}fails-{m}" for m in ("html", "truncated", "down")]
    s.until(lambda: s.ready(c, *names, version="1.2.0"), "what waited is installed", 90)


def kills(s):
    """kill -9 while it installs: nothing is left pending when it is back, and nothing is installed twice."""
    c, names = s.remote, [f"{PREFIX}kill-{i}" for i in range(6)]
    s.end()
    for at, name in enumerate(names):
        seen = lambda: {r["metadata"]["labels"]["name"] for r in c.records()}
        before = seen()
        s.start("1.2.0")
        c.apply(name)
        s.until(lambda: seen() - before or c.phase(name) == "Ready", f"an install of {name} begins")
        s.kill()
        s.count("killed")
    pending = [r for r in c.records() if r["metadata"]["labels"]["status"].startswith("pending-")]
    s.count("left_pending", len(pending))
    for record in pending:  # four minutes later
        c.ask("PATCH", f"/api/v1/namespaces/{record['metadata']['namespace']}/secrets/{record['metadata']['name']}",
              {"data": {"release": age(record, 240)}}, "application/merge-patch+json")
    s.start("1.2.0")
    s.until(lambda: s.ready(c, *names, version="1.2.0"), "all that was killed is Ready", 90)
    for name in names:
        release = c.releases()[f"tenant-{name}-{c.name}"]
        assert release["status"] == "deployed" and int(release["revision"]) <= 2, release
    assert not [r for r in c.records() if r["metadata"]["labels"]["status"].startswith("pending-")]
    recovered = sum(c.reasons(n).count("ReleaseRecovered") for n in names)
    assert recovered == len(pending), (recovered, len(pending))
    s.count("recovered", recovered)


def deletion(s):
    for c in s.clusters:
        for t in c.items(TENANTS):
            c.delete(t["metadata"]["name"])
        s.until(lambda: not c.items(TENANTS), f"Tenants of {c.name} go", 90)
        assert not [r for r in c.releases() if r.startswith("tenant-" + PREFIX)] and not c.records()
        s.until(lambda: not [n for n in c.items("/api/v1/namespaces") if n["metadata"]["name"].startswith(PREFIX)], "their namespaces go")
        s.count("deleted")
    s.home.ask("DELETE", f"/api/v1/namespaces/default/secrets/{REMOTE}")
    s.until(lambda: REMOTE not in s.states(), "the cluster is disengaged")
    metrics = s.ask(s.metrics_at, "/metrics")
    assert f'cluster="{HOME}"' in metrics and f'cluster="{REMOTE}"' not in metrics, metrics
    s.end()


def main():
    if not HELM:
        print("live tenants: SKIPPED: no stock helm ($HELM, ~/go/bin/helm or on PATH)")
        return 77
    folder, problem, began = pathlib.Path(tempfile.mkdtemp()), None, time.monotonic()
    os.environ["HELM_CACHE_HOME"], os.environ["HELM_CONFIG_HOME"] = str(folder / "cache"), str(folder / "config")
    os.environ["HELM_REPOSITORY_CACHE"] = str(folder / "cache/repository")
    s = Scene(folder)
    try:
        for part in (end_to_end, restart, stock_helm, failures, kills, deletion):
            at = time.monotonic()
            part(s)
            print(f"{part.__name__}: {time.monotonic() - at:.1f} s", flush=True)
    except Exception as why:  # noqa: BLE001
        problem = why
    finally:
        s.kill()
        try:
            for c in s.clusters:
                c.forget()
        except Exception as why:  # noqa: BLE001
            problem = problem or why
        s.ending.set()
        s.player.join()
        s.repository.shutdown()
        s.log.close()
        if problem:
            import traceback
            traceback.print_exception(problem)
            print("--- run.log\n" + "".join((folder / "run.log").read_text(errors="replace").splitlines(keepends=True)[-60:]))
        shutil.rmtree(folder, ignore_errors=True)
    if problem:
        return 1
    print("## " + json.dumps({"live": "tenants", "seconds": round(time.monotonic() - began)} | s.counts))
    print("e2e passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
