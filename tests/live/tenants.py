#!/usr/bin/env python3
"""Keeps one chart installed for each Tenant on two API servers: section 14 of the contract, with stock helm beside us.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_SECOND=F KUBEBUILDER_ASSETS=D tests/live/tenants.py BUILD_FOLDER [--embedded]

The first server is home and a member of its own fleet, the second is `demo-remote-1`. What the suite stands on is in tenants_played.py.
In one file: each part goes on from the fleet that the part before it has left.
Without Helm 3 the test is skipped; without Helm 4, docker-registry or cert-manager's chart ($WINDLASS_CHARTS/cert-manager-v…) their part is, and says so.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import image_registry
import tenants_played
from helm_records import aged
from tenants_played import HELM, HOME, PREFIX, REMOTE, TENANTS, helm4, join

KINDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CERT_MANAGER = sorted(pathlib.Path(os.environ.get("WINDLASS_CHARTS") or pathlib.Path.home() / ".cache/windlass/charts").expanduser().glob("cert-manager-v*"))


class Scene(tenants_played.Scene):
    def __init__(self, folder):
        super().__init__(folder, ["--fleet", "secrets", "--apis", "tenants", "--leader-elect"])
        self.readers = [program for program in (HELM, helm4()) if program]
        if len(self.readers) < 2:
            print("tenants: SKIPPED: reading by Helm 4: it is not here, nor Go to build it")

    def begin(self, version="1.0.0", *more, name="demo", repo=None, **environment):
        self.chart = f"{repo or self.repository.url}/{name}"
        self.start("--chart-repo", repo or self.repository.url, "--chart-name", name, "--chart-version", version, *more, **environment)

    def ready(self, c, *names, version):
        """Ready on the state that is wanted now."""
        chart = f"{self.chart}:{version}"
        self.behind = {}
        for name in names:
            status = c.tenant(name)[1].get("status") or {}
            if status.get("phase") != "Ready" or status.get("lastAppliedChart") != chart:
                self.behind[name] = {k: status.get(k) for k in ("phase", "lastAppliedChart", "lastMessage")}
        return not self.behind


def end_to_end(s):
    join(s, HOME, s.home.kubeconfig)
    join(s, REMOTE, s.remote.kubeconfig)
    s.begin()
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
        assert c.releases()[release]["chart"] == "demo-1.0.0", c.releases()[release]
        s.count("helm_reads", c.read_by_helm(release, name, s.readers))
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
    s.begin()
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
    chart.write_bytes(s.repository.pack("1.2.0"))
    c.helm("upgrade", release, str(chart), namespace=name)
    s.until(lambda: "DriftDetected" in c.reasons(name), "what stock helm did is told")
    c.helm("rollback", release, "1", namespace=name)
    s.count("helm_writes", 2)
    s.end()
    s.begin("1.1.0")
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
        s.begin("1.2.0")
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
    # An upgrade that waited as well would be cut off by what is killed next.
    for each in s.clusters:
        s.until(lambda: s.ready(each, PREFIX + "acme", version="1.2.0"), f"what waited on {each.name} is upgraded", 120)


def kills(s):
    """kill -9 while it installs: nothing is left pending when it is back, and nothing is installed twice."""
    c, names = s.remote, [f"{PREFIX}kill-{i}" for i in range(6)]
    s.end()
    for at, name in enumerate(names):
        seen = lambda: {r["metadata"]["labels"]["name"] for r in c.records()}
        before = seen()
        s.begin("1.2.0")
        c.apply(name)
        s.until(lambda: seen() - before or c.phase(name) == "Ready", f"an install of {name} begins")
        s.kill()
        s.count("killed")
    pending = [r for r in c.records() if r["metadata"]["labels"]["status"].startswith("pending-")]
    s.count("left_pending", len(pending))
    for record in pending:  # four minutes later
        c.ask("PATCH", f"/api/v1/namespaces/{record['metadata']['namespace']}/secrets/{record['metadata']['name']}",
              {"data": {"release": aged(record, 240)}}, "application/merge-patch+json")
    s.begin("1.2.0")
    s.until(lambda: s.ready(c, *names, version="1.2.0"), "all that was killed is Ready", 90)
    for name in names:
        release = c.releases()[f"tenant-{name}-{c.name}"]
        assert release["status"] == "deployed" and int(release["revision"]) <= 2, release
    assert not [r for r in c.records() if r["metadata"]["labels"]["status"].startswith("pending-")]
    # A release of before may have been cut off in its upgrade as well.
    cut_off = {r["metadata"]["labels"]["name"].removeprefix("tenant-").removesuffix(f"-{c.name}") for r in pending}
    recovered = sum(c.reasons(n).count("ReleaseRecovered") for n in cut_off)
    assert recovered == len(pending), (recovered, len(pending))
    s.count("recovered", recovered)


def from_registry(s):
    """The chart of a docker-registry, over TLS, where stock helm has pushed it."""
    if not image_registry.program:
        print("tenants: SKIPPED: a chart from an OCI registry: docker-registry is not here")
        return
    certificate = image_registry.certificate(s.folder)
    registry = image_registry.Registry(s.folder, certificate)
    try:
        repo, archive = f"oci://{registry.host}/charts", s.folder / "demo-1.3.0.tgz"
        archive.write_bytes(s.repository.pack("1.3.0"))
        subprocess.run([HELM, "push", str(archive), repo, "--ca-file", certificate[0]], check=True, capture_output=True, timeout=60)
        s.end()
        s.begin("1.3.0", repo=repo, SSL_CERT_FILE=certificate[0])
        name = PREFIX + "acme"
        for c in s.clusters:
            s.until(lambda: s.ready(c, name, version="1.3.0"), f"{name} has the chart of the registry on {c.name}", 90)
            assert c.releases()[f"tenant-{name}-{c.name}"]["chart"] == "demo-1.3.0"
        s.count("from_registry", 2)
    finally:
        registry.stop()


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


def cert_manager(s):
    """A chart that nobody made for this: its kinds and hooks come with it, and Helm reads what we have made of it."""
    if tenants_played.EMBEDDED:
        print("tenants: SKIPPED: cert-manager: the embedded API server has no webhook configurations")
        return
    if not CERT_MANAGER:
        print("tenants: SKIPPED: cert-manager: no $WINDLASS_CHARTS/cert-manager-v… (tests/helm/differential/prepare.py puts it there)")
        return
    chart, name = CERT_MANAGER[-1], PREFIX + "cert-manager"
    packed = re.search(r"(?m)^version: *(\S+)", (chart / "Chart.yaml").read_text())[1]
    subprocess.run([HELM, "package", str(chart), "-d", str(s.folder)], check=True, capture_output=True, timeout=60)
    s.repository.add("cert-manager", packed, (s.folder / f"cert-manager-{packed}.tgz").read_bytes())
    before = {c.name: {crd["metadata"]["name"] for crd in c.items(KINDS)} for c in s.clusters}
    join(s, REMOTE, s.remote.kubeconfig)
    s.begin(packed, "--chart-install-crds", name="cert-manager")
    try:
        for c in s.clusters:
            c.apply(name)
        for c in s.clusters:
            s.until(lambda: s.ready(c, name, version=packed), f"cert-manager is Ready on {c.name}", 180)
            s.count("helm_reads", c.read_by_helm(f"tenant-{name}-{c.name}", name, s.readers))
            assert len({crd["metadata"]["name"] for crd in c.items(KINDS)} - before[c.name]) >= 6, "its kinds"
        s.count("cert_manager", 2)
        deletion(s)
    finally:
        for c in s.clusters:  # the chart keeps its kinds
            for kind in {crd["metadata"]["name"] for crd in c.items(KINDS)} - before[c.name]:
                if kind.endswith("cert-manager.io"):
                    c.ask("DELETE", f"{KINDS}/{kind}")


def main():
    folder = tenants_played.scratch()
    if not folder:
        return 77
    if tenants_played.play("tenants" + ("_embedded" if tenants_played.EMBEDDED else ""), folder, Scene(folder), (end_to_end, restart, stock_helm, failures, kills, from_registry, deletion, cert_manager)):
        return 1
    print("e2e passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
