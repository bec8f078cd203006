#!/usr/bin/env python3
"""KryptonDeployments of a home and two regions, K1 to K12 of the contract's section 18, on two API servers with stock helm beside us.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_SECOND=F KUBEBUILDER_ASSETS=D tests/live/tenants_regions.py BUILD_FOLDER [--embedded]

The first server is home and the region `us`, the second the region `eu`. What the suite stands on is in tenants_played.py. The ten minutes
of K8 and of K9's deletion pass in the virtual time of tests/tenants/cluster/regions_test.cpp; here it is seconds, and a Secret that is gone.
In one file: each part goes on from what the part before it has left.
"""
import base64
import json
import pathlib
import re
import sys
import time

sys.dont_write_bytecode = True
import tenants_played
from tenants_played import GROUP, HELM, PREFIX, crd_of, helm4, kubeconfig_secret

TEAMS = [PREFIX + "team-a", PREFIX + "team-b"]
SECRETS = "/api/v1/namespaces/default/secrets"
KIND = "KryptonDeployment"


class Scene(tenants_played.Scene):
    def __init__(self, folder):
        super().__init__(folder, ["--fleet", "secrets", "--apis", "kryptondeployments", "--chart-repo"])
        self.always += [self.repository.url, "--chart-name", "demo", "--region-secret-namespaces", TEAMS[0]]
        self.us, self.eu = self.home, self.remote
        self.regions = {"us": self.us, "eu": self.eu}
        self.readers = [program for program in (HELM, helm4()) if program]

    def begin(self, *more, version="1.0.0"):
        self.start("--leader-elect", "--chart-version", version, "--watch-namespaces", ",".join(TEAMS), *more, KRYPTON_CHECK_INTERVAL="2s")

    def apply(self, ns, name, region, account="acme", secret=None):
        named = {"kubeconfig": {"secret": secret}} if isinstance(secret, dict) else {"kubeconfigSecretName": secret} if secret else {}
        self.home.kubectl("apply", "-f", "-", text=json.dumps({
            "apiVersion": "mesh.openkcm.io/v1alpha1", "kind": KIND, "metadata": {"name": name, "namespace": ns},
            "spec": {"account": {"name": account}, "region": {"name": region} | named}}))

    def at(self, ns, name):
        return f"{GROUP}/namespaces/{ns}/kryptondeployments/{name}"

    def delete(self, ns, name):
        self.home.ask("DELETE", self.at(ns, name))
        self.until(lambda: self.home.ask("GET", self.at(ns, name))[0] == 404, f"{name} goes")

    def says(self, ns, name):
        """Ready/Deployed: the phase and the reason of the only condition."""
        status = self.home.ask("GET", self.at(ns, name))[1].get("status") or {}
        conditions = status.get("conditions") or [{}]
        assert len(conditions) == 1 and conditions[0].get("type", "Ready") == "Ready", conditions
        self.behind = {name: status}
        return f"{status.get('phase')}/{conditions[0].get('reason')}"

    def until_says(self, ns, name, what, limit=60):
        self.until(lambda: self.says(ns, name) == what, f"{name} says {what}", limit)

    def reasons(self, ns, name):
        return self.home.reasons(name, KIND, ns)

    def revisions(self):
        return {(c.name, r["metadata"]["name"], r["metadata"]["resourceVersion"]) for c in self.regions.values() for r in c.records()}


def way(s, name, kubeconfig, ns="default", granted_to=""):
    s.home.ask("DELETE", f"/api/v1/namespaces/{ns}/secrets/{name}")
    secret = kubeconfig_secret(s.home, name, kubeconfig, ns)
    if granted_to:
        secret["metadata"]["annotations"] = {"windlass.dev/region-for": granted_to}
    code, answer = s.home.ask("POST", f"/api/v1/namespaces/{ns}/secrets", secret)
    assert code == 201, answer


def start_that_fails(s):
    """Who may not make the kind that it was told to make ends, and says what to grant."""
    if tenants_played.EMBEDDED:  # there everybody may do everything
        return
    account, limited = PREFIX + "limited", s.folder / "limited"
    s.home.ask("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": account}})
    s.home.kubectl("create", "role", account, "--verb=get,list,watch", "--resource=secrets")
    s.home.kubectl("create", "rolebinding", account, f"--role={account}", f"--serviceaccount=default:{account}")
    token = s.home.kubectl("create", "token", account).strip()
    limited.write_text(re.sub(r"(token: *)\"?[^\"}\n]+\"?", lambda m: f'{m[1]}"{token}"', pathlib.Path(s.home.kubeconfig).read_text()))
    s.start("--chart-version", "1.0.0", "--ensure-watch-crds", kubeconfig=str(limited))
    assert s.service.wait(20) == 1
    s.service = None
    assert s.said("--ensure-watch-crds: ") and s.said("customresourcedefinitions"), "why"
    for kind in ("rolebinding", "role", "serviceaccount"):
        s.home.kubectl("delete", kind, account)
    s.count("refused_starts")


def releases(s):
    """K1: three objects, two regions, two namespaces; K3: one of them by each way that a Secret is named; K11: none of another namespace."""
    for ns in TEAMS:
        s.home.ask("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})
    s.begin("--ensure-watch-crds")
    s.until(lambda: s.home.ask("GET", crd_of("kryptondeployments"))[0] == 200, "the kind is made at home")
    for region, c in s.regions.items():
        way(s, f"{region}-kubeconfig", c.kubeconfig)
    way(s, f"{PREFIX}old-way", s.eu.kubeconfig)
    way(s, f"{PREFIX}own-way", s.eu.kubeconfig, TEAMS[0], granted_to=TEAMS[1])
    s.until(lambda: s.home.ask("GET", f"{GROUP}/kryptondeployments")[0] == 200, "the kind is served")
    s.apply("default", f"{PREFIX}ignored", "eu")
    all_of_them = []
    for team in TEAMS:
        for region in s.regions:
            for i in range(3):
                name = f"{PREFIX}{team[-1]}-{region}-{i}"
                # The region that such a one names has no Secret: it is not looked for.
                secret = {("eu", 1): f"{PREFIX}old-way", ("eu", 2): {"name": f"{PREFIX}own-way", "namespace": TEAMS[0]}}.get((region, i))
                s.apply(team, name, "mars" if secret else region, secret=secret)
                all_of_them.append((team, name, region))
    for team, name, region in all_of_them:
        s.until_says(team, name, "Ready/Deployed", 120)
        s.count("helm_reads", s.regions[region].read_by_helm(f"ced-{name}", name, s.readers) if name.endswith("-0") else 0)
        assert f"ced-{name}" in s.regions[region].releases()
        status = s.home.ask("GET", s.at(team, name))[1]["status"]
        assert status["lastAppliedChart"] == f"{s.repository.url}/demo:1.0.0", status
    found = {n for c in s.regions.values() for n in c.releases() if n.startswith("ced-" + PREFIX)}
    assert len(found) == 12, found
    assert "status" not in s.home.ask("GET", s.at("default", f"{PREFIX}ignored"))[1]
    s.home.ask("DELETE", s.at("default", f"{PREFIX}ignored"))
    told = s.reasons(TEAMS[0], f"{PREFIX}a-eu-0")
    order = ["AccountValidated", "FinalizerAdded", "Routing", "EdgeNamespaceCreated", "HelmDeployed", "Ready"]
    assert [r for r in told if r in order] == order, told
    metrics = s.ask(s.metrics_at, "/metrics")
    assert 'phase="Ready"' in metrics and f'region="default/eu-kubeconfig"' in metrics, metrics
    s.count("k1_releases", len(found))


def account(s):
    """K2: without an account it is an error that can be deleted."""
    name = f"{PREFIX}nobody"
    s.apply(TEAMS[0], name, "eu", account="")
    s.until_says(TEAMS[0], name, "Error/AccountMissing")
    s.until(lambda: "AccountMissing" in s.reasons(TEAMS[0], name), "an Event says AccountMissing")
    assert f"ced-{name}" not in s.eu.releases()
    s.delete(TEAMS[0], name)


def rotation(s):
    """K4 and K8: other bytes of the Secret, then nothing at all, for several intervals: no release is touched."""
    before, secret = s.revisions(), f"{SECRETS}/eu-kubeconfig"
    text = base64.b64decode(s.home.ask("GET", secret)[1]["data"]["kubeconfig"]) + b"# renewed\n"
    code, answer = s.home.ask("PATCH", secret, {"data": {"kubeconfig": base64.b64encode(text).decode()}}, "application/merge-patch+json")
    assert code == 200, answer
    time.sleep(10)
    assert s.says(TEAMS[0], f"{PREFIX}a-eu-0") == "Ready/Deployed"
    assert s.revisions() == before
    s.count("idle_intervals", 5)


def repair(s):
    """K5: an object that is missing is put back; K6: so is a whole release; K7: what does not come up is counted."""
    ns, name = TEAMS[0], f"{PREFIX}a-eu-0"
    deployments = f"/apis/apps/v1/namespaces/{name}/deployments/"
    s.eu.ask("DELETE", deployments + f"ced-{name}")
    s.until(lambda: "RepairTriggered" in s.reasons(ns, name), "the missing Deployment is seen")
    s.until(lambda: s.eu.ask("GET", deployments + f"ced-{name}")[0] == 200, "it is back")
    s.until_says(ns, name, "Ready/Deployed")
    missing = s.reasons(ns, name).count("ReleaseMissing")  # the first install says so too
    for record in s.eu.records():
        if record["metadata"]["namespace"] == name:
            s.eu.ask("DELETE", f"/api/v1/namespaces/{name}/secrets/{record['metadata']['name']}")
    s.until(lambda: s.reasons(ns, name).count("ReleaseMissing") > missing, "the missing release is seen")
    s.until_says(ns, name, "Ready/Deployed")
    assert s.eu.releases()[f"ced-{name}"]["revision"] == "1"
    broken = f"{PREFIX}a-eu-broken"
    s.eu.unavailable.add(f"ced-{broken}")
    s.apply(ns, broken, "eu")
    s.until_says(ns, broken, "Pending/NotReady")
    message = s.home.ask("GET", s.at(ns, broken))[1]["status"]["lastMessage"]
    assert f"Deployment/ced-{broken} (0/1 available)" in message, message
    s.eu.unavailable.clear()
    s.until_says(ns, broken, "Ready/Deployed")
    s.delete(ns, broken)
    assert f"ced-{broken}" not in s.eu.releases()
    s.count("repaired", 3)


def down(s):
    """K9: a region that does not answer is said; when its Secret is gone, so is the way to clean up, and the object goes."""
    ns, name = TEAMS[1], f"{PREFIX}dead"
    text = pathlib.Path(s.eu.kubeconfig).read_text()
    nowhere = s.folder / "nowhere"
    nowhere.write_text(text.replace(s.eu.host, "127.0.0.1:1"))
    way(s, f"{PREFIX}nowhere", str(nowhere))
    s.apply(ns, name, "moon", secret=f"{PREFIX}nowhere")
    s.until_says(ns, name, "Error/EdgeUnavailable")
    s.until(lambda: "EdgeUnavailable" in s.reasons(ns, name), "it says so")
    s.home.ask("DELETE", f"{SECRETS}/{PREFIX}nowhere")
    s.delete(ns, name)
    assert "CleanupAbandoned" in s.reasons(ns, name), s.reasons(ns, name)


def moved(s):
    """K10: a release goes to its new region, and when it is Ready there it leaves the old one."""
    ns, name = TEAMS[0], f"{PREFIX}a-eu-0"
    s.apply(ns, name, "us")
    s.until(lambda: "Rerouted" in s.reasons(ns, name), "it is told", 90)
    s.until_says(ns, name, "Ready/Deployed")
    s.until(lambda: f"ced-{name}" not in s.eu.releases(), "the old region has it no more")
    assert s.us.releases()[f"ced-{name}"]["status"] == "deployed"
    s.count("rerouted")


def upgraded(s):
    """Another chart, by a process that starts in the middle of our lives; what stock helm has done meanwhile is gone on from."""
    ns, name = TEAMS[1], f"{PREFIX}b-us-1"
    chart = s.folder / "demo-1.1.0.tgz"
    chart.write_bytes(s.repository.pack("1.1.0"))
    s.us.helm("upgrade", f"ced-{name}", str(chart), namespace=name)
    s.us.helm("rollback", f"ced-{name}", "1", namespace=name)
    s.count("helm_writes", 2)
    s.end()
    s.begin(version="1.2.0")
    for region, c in s.regions.items():
        s.until(lambda: all(r["chart"] == "demo-1.2.0" for n, r in c.releases().items() if n.startswith("ced-" + PREFIX)), f"all of {region} are upgraded", 90)
    history = json.loads(s.us.helm("history", f"ced-{name}", "-o", "json", namespace=name))
    assert [h["chart"] for h in history] == ["demo-1.0.0", "demo-1.1.0", "demo-1.0.0", "demo-1.2.0"], history
    s.until_says(ns, name, "Ready/Deployed")


def intervals(s):
    """K12: what counts of $KRYPTON_CHECK_INTERVAL is said when it starts."""
    none = "60s (default, for KRYPTON_CHECK_INTERVAL={} counts for nothing)"
    for said, counts in {"10s": "10s (env", "30": "30 (env", "-1": none.format("-1"), "x": none.format("x")}.items():
        s.end()
        s.log.truncate(0)
        s.start("--chart-version", "1.2.0", KRYPTON_CHECK_INTERVAL=said)
        s.until(lambda: s.said(f"KRYPTON_CHECK_INTERVAL={counts}"), f"{said} is {counts}")
        s.count("intervals")


def deletion(s):
    s.end()
    s.begin(version="1.2.0")
    for o in s.home.items(f"{GROUP}/kryptondeployments"):
        s.home.ask("DELETE", s.at(o["metadata"]["namespace"], o["metadata"]["name"]))
    s.until(lambda: not s.home.items(f"{GROUP}/kryptondeployments"), "all of them go", 120)
    for region, c in s.regions.items():
        assert not c.records(), f"nothing is left in {region}"
        s.until(lambda: not [n for n in c.items("/api/v1/namespaces") if n["metadata"]["name"].startswith(f"{PREFIX}{'a' if c is s.eu else 'b'}-")], "their namespaces go")
        s.home.ask("DELETE", f"{SECRETS}/{region}-kubeconfig")
    s.home.ask("DELETE", f"{SECRETS}/{PREFIX}old-way")
    s.end()


def main():
    folder = tenants_played.scratch()
    if not folder:
        return 77
    parts = (start_that_fails, releases, account, rotation, repair, down, moved, upgraded, intervals, deletion)
    return tenants_played.play("tenants_regions" + ("_embedded" if tenants_played.EMBEDDED else ""), folder, Scene(folder), parts)


if __name__ == "__main__":
    sys.exit(main())
