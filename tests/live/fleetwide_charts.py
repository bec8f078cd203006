#!/usr/bin/env python3
"""FleetCharts at home for two real API servers, with stock helm and kubectl beside: home is a member too, the other is its second. A file is planned before
it is applied; two charts of which one needs the other go out wave by wave; stock helm reads, upgrades and uninstalls the releases, which is drift; `windlass run`
is killed again and again while an upgrade goes on, and at each write of an upgrade on a member; a chart whose test fails halts the rollout and is undone; a release that another hand
installed is taken over only when that is said; RBAC cut on one member holds that one alone; a settled fleet is not written to.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_SECOND=F KUBEBUILDER_ASSETS=D tests/live/fleetwide_charts.py BUILD_FOLDER

Without stock helm it is skipped. With cert-manager's chart ($WINDLASS_CHARTS/cert-manager-v…) that is one of the charts. Ends with one JSON line: {"clusters",
"kills", "killed_writes", "revisions", "writes", "helm_reads"}.
"""
import functools
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import fleetwide
import played
import rollout
from helm_records import aged
from middleman import middleman
from rollout import BUILD, ROOT
from waits import check, until

NAMESPACE, APPS = fleetwide.NAMESPACE, "shop"
HELM = shutil.which("helm")
CERT_MANAGER = sorted(pathlib.Path(os.environ.get("WINDLASS_CHARTS") or pathlib.Path.home() / ".cache/windlass/charts").expanduser().glob("cert-manager-v*"))
TEST = """apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-test
  annotations: {helm.sh/hook: test, demo.local/ends: ENDS}
spec:
  restartPolicy: Never
  containers: [{name: test, image: test}]
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Shelf:
    """A chart repository as stock helm makes one."""
    def __init__(self, folder):
        self.folder = folder / "shelf"
        self.folder.mkdir()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(self.folder)))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def put(self, name, version, test=None):
        chart = self.folder.parent / "charts" / f"{name}-{version}" / name
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: {version}\n")
        (chart / "values.yaml").write_text("level: info\n")
        (chart / "templates/config.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n"
                                                     "data: {version: {{ .Chart.Version | quote }}, level: {{ .Values.level | quote }}}\n")
        for i in range(4):
            (chart / f"templates/more{i}.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {{{{ .Release.Name }}}}-{i}}}\n"
                                                           "data: {version: {{ .Chart.Version | quote }}}\n")
        if test:
            (chart / "templates/test.yaml").write_text(TEST.replace("ENDS", test))
        subprocess.run([HELM, "package", chart, "-d", self.folder], check=True, capture_output=True)
        subprocess.run([HELM, "repo", "index", self.folder], check=True, capture_output=True)


class Killer(middleman):
    """Counts the writes on a member, but for Leases and Events, and kills the service at one of them: the server has taken it, the service has not heard."""
    def __init__(self, kubeconfig):
        super().__init__(kubeconfig, seconds=600)
        self.lock, self.left, self.kill, self.path = threading.Lock(), 0, None, None

    def at(self, write, kill):
        with self.lock:
            self.left, self.kill, self.path = write, kill, None

    def forward(self, to):
        try:
            super().forward(to)
        except OSError:
            to.close_connection = True  # the service is gone

    def answered(self, method, path):
        if method == "GET" or "/leases" in path or "/events" in path:
            return
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.kill()
                self.path = f"{method} {path}"


class Scene(fleetwide.Scene):
    def __init__(self, folder):
        super().__init__(folder)
        self.killer = Killer(self.home.kubeconfig)
        self.shelf, self.stopped = Shelf(folder), False
        self.kubelet = threading.Thread(target=self.end_pods, daemon=True)

    def start(self):
        self.service = subprocess.Popen([BUILD / "windlass", "run", "--kubeconfig", self.home.kubeconfig, "--namespace", NAMESPACE, "--fleet", "secrets", "--apis", "fleetcharts",
                                         "--metrics-bind-address", "0", "--health-probe-bind-address", "0"], stdout=open(self.folder / "run.log", "a"), stderr=subprocess.STDOUT)

    def kill(self):
        self.service.kill()
        self.service.wait()

    def end_timeout(self, member):
        """As if the timeout of an upgrade were over, so that nobody can be working on its release any more."""
        for secret in json.loads(member.kubectl("get", "secrets", "-n", APPS, "-l", "owner=helm", "-o", "json"))["items"]:
            if secret["metadata"]["labels"]["status"].startswith("pending-"):
                member.kubectl("patch", "secret", secret["metadata"]["name"], "-n", APPS, "--type=merge", "-p", json.dumps({"data": {"release": aged(secret, 600)}}))

    def end_pods(self):
        """Pods of tests end as they say: nobody runs them here."""
        while not self.stopped:
            for m in self.members:
                try:
                    for pod in json.loads(m.kubectl("get", "pods", "-n", APPS, "-o", "json"))["items"]:
                        how = pod["metadata"].get("annotations", {}).get("demo.local/ends")
                        if how and pod.get("status", {}).get("phase") != how:
                            m.kubectl("patch", "pod", pod["metadata"]["name"], "-n", APPS, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"phase": how}}))
                except (RuntimeError, ValueError):
                    pass  # it is gone, or the server is
            time.sleep(0.3)

    def fleet_chart(self, name, version, **more):
        spec = {"clusters": {"selector": {}}, "chart": {"repository": self.shelf.url, "name": name, "version": version}, "namespace": APPS,
                "rollout": {"waves": {"label": "ring", "values": ["canary"]}, "maxClusters": 2, "soak": "2s"}}
        return {"apiVersion": "fleet.windlass.dev/v1alpha1", "kind": "FleetChart", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec | more}

    def status(self, name="app"):
        return json.loads(self.home.kubectl("get", "fleetchart", name, "-n", NAMESPACE, "-o", "json")).get("status", {})

    def condition(self, kind, name="app"):
        return next((f"{c['status']} {c['reason']} {c['message']}" for c in self.status(name).get("conditions", []) if c["type"] == kind), "none")

    def patch(self, spec, name="app"):
        self.home.kubectl("patch", "fleetchart", name, "-n", NAMESPACE, "--type=merge", "-p", json.dumps({"spec": spec}))

    def version(self, member, name="app"):
        found = json.loads(member.kubectl("get", "configmap", name, "-n", APPS, "-o", "json", "--ignore-not-found") or "{}")
        return found.get("data", {}).get("version")

    def helm(self, member, *arguments):
        done = subprocess.run([HELM, *arguments, "--kubeconfig", member.kubeconfig, "-n", APPS], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, f"helm {' '.join(arguments)} on {member.name}: {done.stderr}")
        return done.stdout


def run(s, total):
    eu, us = s.members
    for crd in ("fleetcharts", "fleetgrants"):
        s.home.apply((ROOT / f"deploy/crds/fleet/{crd}.yaml").read_text())
    s.home.kubectl("wait", "--for=condition=Established", "crd/fleetcharts.fleet.windlass.dev", "crd/fleetgrants.fleet.windlass.dev", "--timeout=30s")
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        s.shelf.put("app", version)
    s.shelf.put("app", "2.0.0", test="Failed")
    s.shelf.put("app", "2.1.0", test="Succeeded")
    s.shelf.put("base", "1.0.0")
    s.join(played.Member("eu", s.killer.kubeconfig(s.folder / "eu.yaml")), "canary")
    s.join(us, "main")
    s.kubelet.start()

    # Before it is applied.
    file = s.folder / "app.yaml"
    file.write_text(json.dumps(s.fleet_chart("app", "1.0.0")))
    said = json.loads(s.windlass("chart", "plan", "-f", file, "-o", "json"))["fleetCharts"][0]["clusters"]
    check([(c["cluster"], c.get("next"), (c["hold"] or {}).get("code")) for c in said] == [("eu", "revision 1", None), ("us", None, "earlier-wave")], str(said))
    check(s.version(eu) is None, "a plan wrote")
    refused = subprocess.run([*rollout.KUBECTL, "--kubeconfig", s.home.kubeconfig, "apply", "-f", "-"], text=True, capture_output=True,
                             input=json.dumps(s.fleet_chart("app", "1.0.0", drift="Mend")))
    check(refused.returncode != 0 and "spec.drift" in refused.stderr, refused.stderr)

    # One needs the other.
    s.home.apply(s.fleet_chart("app", "1.0.0", dependsOn=["base"]))
    s.start()
    s.until(lambda: "depends-on" in s.status().get("held", {}), "app waits for base")
    s.home.apply(s.fleet_chart("base", "1.0.0"))
    s.until(lambda: s.condition("Ready").startswith("True AllReady"), "both have app")
    s.until(lambda: s.condition("Ready", "base").startswith("True AllReady"), "both have base")
    total["clusters"] = 2
    for m in s.members:
        check(s.version(m) == "1.0.0", s.version(m))
        listed = {r["name"]: (r["chart"], r["status"]) for r in json.loads(s.helm(m, "list", "-o", "json"))}
        check(listed == {"app": ("app-1.0.0", "deployed"), "base": ("base-1.0.0", "deployed")}, str(listed))
        check("version: 1.0.0" in s.helm(m, "get", "manifest", "app").replace('"', ""), "helm reads another manifest")
        total["helm_reads"] += 2

    # A change, with the process killed again and again.
    s.patch({"chart": {"version": "1.1.0"}})
    order, end = [], time.monotonic() + 240
    while True:
        for m in s.members:
            if s.version(m) == "1.1.0" and m.name not in order:
                order.append(m.name)
        if s.condition("Ready").startswith("True AllReady 2 of 2 clusters have revision 2"):
            break
        check(time.monotonic() < end, f"the rollout did not end: {json.dumps(s.status(), indent=1)}")
        time.sleep(0.25 + 0.12 * (total["kills"] % 9))
        if total["kills"] < 25:
            s.stop(signal.SIGKILL)
            total["kills"] += 1
            for m in s.members:
                s.end_timeout(m)
            s.start()
    check(order == ["eu", "us"], f"they moved in the order {order}")
    for m in s.members:
        history = json.loads(s.helm(m, "history", "app", "-o", "json"))
        check(history[-1]["status"] == "deployed" and history[-1]["chart"] == "app-1.1.0", str(history))
        check(not [r for r in history if r["status"].startswith("pending")], str(history))

    # An upgrade for each of its writes on a member, at which the process is killed.
    version = "1.1.0"
    while True:
        version = "1.2.0" if version == "1.1.0" else "1.1.0"
        wanted = f"True AllReady 2 of 2 clusters have revision {s.status()['revision'] + 1}"
        s.killer.at(total["killed_writes"] + 1, s.kill)
        s.patch({"chart": {"version": version}})
        s.until(lambda: s.killer.path or s.condition("Ready").startswith(wanted), "it is killed, or done")
        killed_at = s.killer.path
        if killed_at:
            total["killed_writes"] += 1
            s.end_timeout(eu)
            s.start()
        s.until(lambda: s.condition("Ready").startswith(wanted), f"it goes on after {killed_at}")
        for m in s.members:
            history = json.loads(s.helm(m, "history", "app", "-o", "json"))
            check(s.version(m) == version and history[-1]["status"] == "deployed" and history[-1]["chart"] == f"app-{version}", f"{killed_at}: {s.version(m)} {history}")
            check([r["status"] for r in history].count("deployed") == 1 and not [r for r in history if r["status"].startswith("pending")], f"{killed_at}: {history}")
        if not killed_at:
            break
    s.killer.at(0, None)
    check(total["killed_writes"] >= 8, f"an upgrade has {total['killed_writes']} writes")
    s.patch({"chart": {"version": "1.1.0"}})
    s.until(lambda: s.version(us) == "1.1.0" and s.condition("Ready").startswith("True AllReady 2 of 2"), "both have 1.1.0")

    # What stock helm does by hand is drift.
    s.helm(us, "uninstall", "app")
    s.until(lambda: "drifted: us" in s.condition("Degraded"), "the uninstall was seen")
    check(s.version(us) is None, "drift: Report mended it")
    s.patch({"drift": "Repair"})
    s.until(lambda: s.version(us) == "1.1.0" and s.condition("Degraded").startswith("False"), "it was put back")
    s.helm(eu, "upgrade", "app", "app", "--repo", s.shelf.url, "--version", "1.2.0")
    s.until(lambda: s.version(eu) == "1.1.0" and s.condition("Degraded").startswith("False"), "an upgrade by hand was put back")
    s.patch({"drift": "Report"})

    # A test that fails, and back.
    s.patch({"chart": {"version": "2.0.0"}, "test": True})
    s.until(lambda: s.condition("Halted").startswith("True TooManyFailed"), "the test of the canary failed", 120)
    check("its tests" in next(c["hold"]["reason"] for c in json.loads(s.windlass("chart", "status", "app", "-o", "json"))["fleetCharts"][0]["clusters"] if c["cluster"] == "eu"), "why")
    check(s.version(us) == "1.1.0", "the second wave began")
    s.windlass("chart", "undo", "app", "--yes")
    s.until(lambda: s.condition("Ready").startswith("True AllReady"), "the former version is back", 120)
    check(s.version(eu) == s.version(us) == "1.1.0", f"{s.version(eu)} {s.version(us)}")
    s.patch({"chart": {"version": "2.1.0"}})
    s.until(lambda: s.condition("Ready").startswith("True AllReady") and s.version(us) == "2.1.0", "a test that ends well lets it go on", 120)
    total["revisions"] = len(s.status()["history"])

    # Another hand's release.
    s.helm(us, "install", "other", "base", "--repo", s.shelf.url)
    s.home.apply(s.fleet_chart("base", "1.0.0", release="other") | {"metadata": {"name": "other", "namespace": NAMESPACE}})
    s.until(lambda: "managed-by-other: us" in s.condition("Degraded", "other"), "it is not fought over")
    s.until(lambda: s.version(eu, "other") == "1.0.0", "the other cluster goes on")
    s.windlass("chart", "approve", "other", "--adopt", "--cluster", "us", "--yes")
    s.until(lambda: s.condition("Ready", "other").startswith("True AllReady"), "it was adopted")

    if CERT_MANAGER:
        shutil.copytree(CERT_MANAGER[-1], s.folder / "charts/cert-manager", dirs_exist_ok=True)
        subprocess.run([HELM, "package", s.folder / "charts/cert-manager", "-d", s.shelf.folder], check=True, capture_output=True)
        subprocess.run([HELM, "repo", "index", s.shelf.folder], check=True, capture_output=True)
        s.home.apply(s.fleet_chart("cert-manager", "", timeout="20s", values={"crds": {"enabled": True}, "startupapicheck": {"enabled": False}}))
        s.until(lambda: s.status("cert-manager").get("clusters", {}).get("failed") == 1, "nobody runs its pods, so it fails where it was installed", 120)
        s.home.kubectl("delete", "fleetchart", "cert-manager", "-n", NAMESPACE, "--timeout=90s")
    else:
        print("fleetwide_charts: SKIPPED: cert-manager: its chart is not here")

    # At rest.
    s.stop()

    def versions():
        kinds = ("configmaps", "secrets", "namespaces", "serviceaccounts")
        found = {(m.name, kind, o["metadata"].get("namespace"), o["metadata"]["name"]): o["metadata"]["resourceVersion"] for m in s.members for kind in kinds
                 for o in json.loads(m.kubectl("get", kind, "-A", "-o", "json"))["items"]}
        for kind in ("fleetcharts", "controllerrevisions"):
            found |= {(kind, o["metadata"]["name"]): o["metadata"]["resourceVersion"] for o in json.loads(s.home.kubectl("get", kind, "-n", NAMESPACE, "-o", "json"))["items"]}
        return found
    before = versions()
    s.start()
    time.sleep(10)
    total["writes"] = len(set(versions().items()) - set(before.items()))
    check(total["writes"] == 0, f"a settled fleet was written to: {set(versions().items()) - set(before.items())}")

    # They go, and take their releases along.
    s.home.kubectl("delete", "fleetcharts", "--all", "-n", NAMESPACE, "--timeout=90s")
    for m in s.members:
        check(json.loads(s.helm(m, "list", "-a", "-o", "json")) == [], s.helm(m, "list", "-a"))


def main():
    if not HELM:
        print("fleetwide_charts: SKIPPED: stock helm is not here")
        sys.exit(77)
    total = {"clusters": 0, "kills": 0, "killed_writes": 0, "revisions": 0, "writes": 0, "helm_reads": 0}
    with tempfile.TemporaryDirectory(prefix="windlass-fleetwide-charts-") as folder:
        s = Scene(pathlib.Path(folder))
        try:
            run(s, total)
        except Exception:
            print((s.folder / "run.log").read_text()[-6000:] if (s.folder / "run.log").exists() else "", file=sys.stderr)
            raise
        finally:
            s.stopped = True
            if s.service:
                s.service.kill()
                s.service.wait()
            s.shelf.server.shutdown()
            s.home.kubectl("delete", "secret", "eu", "us", "-n", NAMESPACE, "--ignore-not-found")
            if "fleetcharts" in s.home.kubectl("api-resources", "--api-group=fleet.windlass.dev", "-o", "name"):
                for one in s.home.kubectl("get", "fleetcharts", "-n", NAMESPACE, "-o", "name").split():
                    s.home.kubectl("patch", one, "-n", NAMESPACE, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
                s.home.kubectl("delete", "fleetcharts", "--all", "-A", "--timeout=30s")
            for m in s.members:
                m.kubectl("delete", "namespace", APPS, "--ignore-not-found", "--wait=false")
                m.kubectl("delete", "configmap", "windlass-fleet", "-n", "bootc-operator", "--ignore-not-found")
                # cert-manager's chart keeps them; the next test installs it as another release.
                m.kubectl("delete", "crd", "-l", "app.kubernetes.io/name=cert-manager", "--ignore-not-found", "--wait=false")
    print(json.dumps(total))


if __name__ == "__main__":
    main()
