"""What the live suites of Tenants and KryptonDeployments stand on: two real clusters, whose missing controllers are played, a chart
repository whose failures can be switched on, stock helm of both major versions, and the service that is tried.

The clusters are those of $WINDLASS_LIVE_KUBECONFIG and $WINDLASS_LIVE_SECOND, with `--embedded` two embedded API servers; kubectl is in $KUBEBUILDER_ASSETS or on PATH. Helm 3 is $HELM,
~/go/bin/helm or the one on PATH; Helm 4 is $HELM4 or ~/.cache/windlass/helm4, else built by the Go toolchain (once, some minutes).
"""
import base64
import hashlib
import http.client
import http.server
import io
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import traceback
import urllib.request

import go_program

BUILD = pathlib.Path(sys.argv[1]).resolve()
HOME, REMOTE = "self-cluster", "demo-remote-1"
HELM = os.environ.get("HELM") or next((str(p) for p in [pathlib.Path.home() / "go/bin/helm"] if p.exists()), None) or shutil.which("helm")
HELM4_RELEASE = "v4.3.1"
GROUP = "/apis/mesh.openkcm.io/v1alpha1"
TENANTS = GROUP + "/tenants"
KINDS = ("tenants", "kryptondeployments")
PREFIX = "e2e-"
KUBECTL = next((p for p in [pathlib.Path(os.environ.get("KUBEBUILDER_ASSETS") or pathlib.Path.home() / ".cache/windlass/envtest") / "kubectl"] if p.exists()), shutil.which("kubectl"))
EMBEDDED = "--embedded" in sys.argv


def crd_of(kind):
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind}.mesh.openkcm.io"


def helm4():
    """The next major version, which reads what we write; None where it is not here and cannot be built."""
    return os.environ.get("HELM4") or go_program.kept("helm4", "helm.sh/helm/v4", HELM4_RELEASE, "cmd/helm", "tenants")


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
        said = json.loads(self.kubectl("config", "view", "--raw", "--flatten", "--minify", "-o", "json"))
        server, self.user = said["clusters"][0]["cluster"], said["users"][0]["user"]
        self.host = server["server"].removeprefix("https://")
        self.trust = ssl.create_default_context(cadata=base64.b64decode(server["certificate-authority-data"]).decode())
        self.trust.check_hostname = False  # the certificate names kubernetes, and the loopback address has no name
        if "client-key-data" in self.user:
            with tempfile.NamedTemporaryFile() as both:
                both.write(base64.b64decode(self.user["client-certificate-data"]) + base64.b64decode(self.user["client-key-data"]))
                both.flush()
                self.trust.load_cert_chain(both.name)
        self.had = {kind for kind in KINDS if self.ask("GET", crd_of(kind))[0] == 200}
        self.unavailable = set()  # names of Deployments whose pods never come up

    def ask(self, method, path, body=None, kind="application/json"):
        connection = http.client.HTTPSConnection(self.host, context=self.trust, timeout=60)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": kind, "Accept": "application/json"} | ({"Authorization": "Bearer " + self.user["token"]} if "token" in self.user else {}))
            answer = connection.getresponse()
            content = answer.read()
            # Of a group that nobody serves there is no JSON.
            return answer.status, json.loads(content) if content and "json" in answer.headers.get("Content-Type", "") else None
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

    def kubectl(self, *arguments, text=None):
        done = subprocess.run([KUBECTL, "--kubeconfig", self.kubeconfig, *arguments], input=text, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{self.name}: kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, name):
        self.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "mesh.openkcm.io/v1alpha1", "kind": "Tenant", "metadata": {"name": name, "namespace": "default"}, "spec": {}}))

    def delete(self, name):
        self.ask("DELETE", f"/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/{name}")

    def helm(self, *arguments, namespace=None, program=HELM):
        done = subprocess.run([program, *arguments, "--kubeconfig", self.kubeconfig, *(["-n", namespace] if namespace else [])],
                              capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {program} {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def releases(self, program=HELM):
        # Helm 4 lists those in every state unasked, and knows no flag for it.
        every = ["-a"] if program == HELM else []
        return {r["name"]: r for r in json.loads(self.helm("list", "-A", *every, "-o", "json", program=program))}

    def read_by_helm(self, name, namespace, programs):
        """How often a stock helm has read that release, by list, status, get and history, and found it deployed."""
        for program in programs:
            listed = self.releases(program)[name]
            assert listed["status"] == "deployed" and listed["namespace"] == namespace, (program, listed)
            assert json.loads(self.helm("status", name, "-o", "json", namespace=namespace, program=program))["info"]["status"] == "deployed"
            assert "kind: Deployment" in self.helm("get", "manifest", name, namespace=namespace, program=program)
            assert json.loads(self.helm("history", name, "-o", "json", namespace=namespace, program=program))[-1]["status"] == "deployed"
        return 4 * len(programs)

    def records(self):
        return [s for s in self.items("/api/v1/secrets?labelSelector=owner%3Dhelm") if s["metadata"]["namespace"].startswith(PREFIX)]

    def reasons(self, name, kind="Tenant", ns="default"):
        found = [e for e in self.items(f"/api/v1/namespaces/{ns}/events") if e["involvedObject"].get("name") == name and e["involvedObject"]["kind"] == kind]
        return [e["reason"] for e in sorted(found, key=lambda e: e["eventTime"] or "") for _ in range(e.get("count") or 1)]

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
            up = 0 if meta["name"] in self.unavailable else wanted
            ready = {"replicas": wanted, "readyReplicas": up, "availableReplicas": up}
            is_now = d.get("status", {})
            if is_now.get("observedGeneration") != meta["generation"] or is_now.get("availableReplicas", 0) != up:
                self.ask("PATCH", f"{place}/replicasets/{name}/status", {"status": ready | {"observedGeneration": 1}}, "application/merge-patch+json")
                self.ask("PATCH", f"{place}/deployments/{meta['name']}/status", {"status": ready | {
                    "updatedReplicas": wanted, "observedGeneration": meta["generation"]}}, "application/merge-patch+json")
        for job in self.items("/apis/batch/v1/jobs"):
            meta = job["metadata"]
            if meta["namespace"].startswith(PREFIX) and not job.get("status", {}).get("conditions"):
                self.ask("PATCH", f"/apis/batch/v1/namespaces/{meta['namespace']}/jobs/{meta['name']}/status", {"status": {
                    "succeeded": 1, "startTime": meta["creationTimestamp"], "completionTime": meta["creationTimestamp"],
                    "conditions": [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]}}, "application/merge-patch+json")
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
        for kind in KINDS:
            for o in self.items(f"{GROUP}/{kind}"):
                of, name = o["metadata"]["namespace"], o["metadata"]["name"]
                if name.startswith(PREFIX):
                    self.ask("PATCH", f"{GROUP}/namespaces/{of}/{kind}/{name}", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
                    self.ask("DELETE", f"{GROUP}/namespaces/{of}/{kind}/{name}")
        for ns in self.items("/api/v1/namespaces"):
            if ns["metadata"]["name"].startswith(PREFIX):
                self.ask("DELETE", "/api/v1/namespaces/" + ns["metadata"]["name"])
        until(lambda: self.play() or not [n for n in self.items("/api/v1/namespaces") if n["metadata"]["name"].startswith(PREFIX)], "namespaces go", 30)
        for name in (HOME, REMOTE):
            self.ask("DELETE", f"/api/v1/namespaces/default/secrets/{name}")
        for lease in ("krypton-operator", "krypton-operator-kryptondeployments"):
            self.ask("DELETE", "/apis/coordination.k8s.io/v1/namespaces/default/leases/" + lease)
        for kind in set(KINDS) - self.had:
            self.ask("DELETE", crd_of(kind))
            until(lambda: self.ask("GET", crd_of(kind))[0] == 404, "the kind goes", 30)


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
            self.add("demo", version, self.pack(version))
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def add(self, name, version, archive):
        self.charts[f"{name}-{version}.tgz"] = (name, version, archive)
        entries = {}
        for file, (of, at, content) in self.charts.items():
            entries.setdefault(of, []).append({"apiVersion": "v2", "name": of, "version": at, "urls": [file], "created": "2026-01-01T00:00:00Z",
                                               "digest": hashlib.sha256(content).hexdigest()})
        self.index = json.dumps({"apiVersion": "v1", "entries": entries}).encode()

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
        body, tag = of.charts.get(self.path.removeprefix("/"), (None, None, None))[2], None
        if self.path == "/index.yaml":
            body, tag = of.index, f'"{hashlib.sha256(of.index).hexdigest()}"'
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


def real():
    return os.environ["WINDLASS_LIVE_KUBECONFIG"], os.environ["WINDLASS_LIVE_SECOND"]


class Scene:
    """The service, what it stands on, and what has been counted. `always`: arguments of every start."""

    def __init__(self, folder, always):
        self.folder, self.always, self.service, self.counts, self.behind = folder, always, None, {}, {}
        self.servers = None
        self.home, self.remote = (Cluster(name, kubeconfig) for name, kubeconfig in zip((HOME, REMOTE), self.embedded() if EMBEDDED else real()))
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

    def embedded(self):
        """The kubeconfigs of two embedded API servers, which are ours to end."""
        at = self.folder / "servers"
        self.servers = subprocess.Popen([BUILD / "windlass", "apiserver", "--clusters", "2", "--tls", "--dir", at], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until((at / "kubeconfig").exists, "embedded API servers")
        for context in ("cluster-001", "cluster-002"):
            one = subprocess.run([KUBECTL, "--kubeconfig", at / "kubeconfig", "config", "view", "--raw", "--flatten", "--minify", "--context", context],
                                 capture_output=True, check=True, timeout=60).stdout
            (at / context).write_bytes(one)
            yield str(at / context)

    def count(self, what, by=1):
        self.counts[what] = self.counts.get(what, 0) + by

    def start(self, *arguments, kubeconfig=None, **environment):
        """`windlass run` with that kubeconfig, or home's, what the suite always says, and these arguments."""
        ports = []
        for _ in range(2):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                ports.append(s.getsockname()[1])
        self.metrics_at, self.health_at = ports
        self.service = subprocess.Popen(
            [BUILD / "windlass", "run", "--kubeconfig", kubeconfig or self.home.kubeconfig, *self.always, *arguments,
             "--metrics-bind-address", f"127.0.0.1:{ports[0]}", "--health-probe-bind-address", f"127.0.0.1:{ports[1]}"],
            stdout=self.log, stderr=self.log, env=os.environ | {"KRYPTON_CHECK_INTERVAL": "5s", "WATCH_NAMESPACE": "default"} | environment)

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

    def leave(self):
        """Ends and puts away all that there is; errors: what could not be."""
        problem = None
        self.kill()
        try:
            for c in self.clusters:
                c.forget()
        except Exception as why:  # noqa: BLE001
            problem = why
        self.ending.set()
        self.player.join()
        self.repository.shutdown()
        self.log.close()
        if self.servers:
            self.servers.terminate()
            self.servers.wait(20)
        return problem


def kubeconfig_secret(c, name, kubeconfig, ns="default", labels=None):
    text = c.kubectl("config", "view", "--raw", "--flatten", "--kubeconfig", kubeconfig)
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": ns, "labels": labels or {}},
            "data": {"kubeconfig": base64.b64encode(text.encode()).decode()}}


def join(s, name, kubeconfig):
    s.home.ask("POST", "/api/v1/namespaces/default/secrets",
               kubeconfig_secret(s.home, name, kubeconfig, labels={"sigs.k8s.io/multicluster-runtime-kubeconfig": "true"}))


def scratch():
    """A folder for a run, with the caches of stock helm in it; None, and said, without that."""
    if not HELM:
        print("live: SKIPPED: no stock helm ($HELM, ~/go/bin/helm or on PATH)")
        return None
    if not KUBECTL:
        print("live: SKIPPED: no kubectl in $KUBEBUILDER_ASSETS and none on PATH")
        return None
    folder = pathlib.Path(tempfile.mkdtemp())
    os.environ["HELM_CACHE_HOME"], os.environ["HELM_CONFIG_HOME"] = str(folder / "cache"), str(folder / "config")
    os.environ["HELM_REPOSITORY_CACHE"] = str(folder / "cache/repository")
    return folder


def play(name, folder, scene, parts):
    """All parts, one after the other, each on what the one before it has left; what the last says is in the log when one fails."""
    problem, began = None, time.monotonic()
    try:
        for part in parts:
            at = time.monotonic()
            part(scene)
            print(f"{part.__name__}: {time.monotonic() - at:.1f} s", flush=True)
    except Exception as why:  # noqa: BLE001
        problem = why
    finally:
        left = scene.leave()
        problem = problem or left
        if problem:
            traceback.print_exception(problem)
            print("--- run.log\n" + "".join((folder / "run.log").read_text(errors="replace").splitlines(keepends=True)[-60:]))
        shutil.rmtree(folder, ignore_errors=True)
    if problem:
        return 1
    print("## " + json.dumps({"live": name, "seconds": round(time.monotonic() - began)} | scene.counts))
    return 0
