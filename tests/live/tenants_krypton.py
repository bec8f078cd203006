#!/usr/bin/env python3
"""docs/migrating/krypton.md, forth and back: a cluster as krypton-operator v0.0.8 leaves it (its kind, releases by stock helm with the values it
gives, its annotation), taken over by Windlass with --compat krypton, given back, and taken over again.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_SECOND=F KUBEBUILDER_ASSETS=D tests/live/tenants_krypton.py BUILD_FOLDER [--embedded]

What the suite stands on is in tenants_played.py; without Helm 3 it is skipped.
"""
import hashlib
import json
import subprocess
import sys

sys.dont_write_bytecode = True
import tenants_played
from tenants_played import BUILD, PREFIX, REMOTE, join

ITS_KIND = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "tenants.mesh.openkcm.io"},
    "spec": {"group": "mesh.openkcm.io", "scope": "Namespaced", "names": {"kind": "Tenant", "listKind": "TenantList", "plural": "tenants", "singular": "tenant"},
             "versions": [{"name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
                 "type": "object", "properties": {
                     "spec": {"type": "object", "required": ["workspace"], "properties": {
                         "workspace": {"type": "string"},
                         "clusterRef": {"type": "object", "required": ["secretName", "secretNamespace"],
                                        "properties": {"secretName": {"type": "string"}, "secretNamespace": {"type": "string"}}}}},
                     "status": {"type": "object", "properties": {
                         "phase": {"type": "string"}, "lastMessage": {"type": "string"}, "lastAppliedChart": {"type": "string"},
                         "conditions": {"type": "array", "items": {
                             "type": "object", "required": ["type", "status", "lastTransitionTime", "reason", "message"],
                             "properties": {"type": {"type": "string"}, "status": {"type": "string"}, "lastTransitionTime": {"type": "string", "format": "date-time"},
                                            "reason": {"type": "string"}, "message": {"type": "string"}, "observedGeneration": {"type": "integer"}}}}}}}}}}]}}


class Scene(tenants_played.Scene):
    def __init__(self, folder):
        super().__init__(folder, ["--compat", "krypton", "-fleet=secrets"])
        self.chart = ["-chart-repo=" + self.repository.url, "-chart-name=demo", "-chart-version=1.0.0"]
        self.bare = hashlib.sha256(f"{self.repository.url}|demo|1.0.0".encode()).hexdigest()

    def original(self, name, workspace):
        """What one look of the original leads to: it upgrades whatever there is."""
        self.remote.helm("upgrade", "--install", f"tenant-{name}-{REMOTE}", "demo", "--repo", self.repository.url, "--version", "1.0.0", "--set", "installCRDs=true", namespace=workspace)
        self.remote.kubectl("-n", "default", "annotate", "--overwrite", "tenant", name, f"mesh.openkcm.io/fingerprint-{REMOTE}={self.bare}")

    def revision(self, name):
        return self.remote.releases()[f"tenant-{name}-{REMOTE}"]["revision"]

    def plan(self, *words):
        done = subprocess.run([BUILD / "windlass", "run", "--plan", "--kubeconfig", self.home.kubeconfig, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        rows = [row for c in json.loads(done.stdout)["clusters"] if c["name"] == REMOTE for row in c["charts"]]
        return {u["name"]: u for row in rows for u in row["units"]}, [n for row in rows for n in row.get("notes", [])]


def apply_as_it_was(s):
    assert s.remote.ask("POST", tenants_played.crd_of("").rsplit("/", 1)[0], ITS_KIND)[0] == 201
    s.until(lambda: s.remote.ask("GET", tenants_played.GROUP + "/tenants")[0] == 200, "its kind is served", 30)
    for name, workspace in (("acme", "acme"), ("beta", "shop")):
        name, workspace = PREFIX + name, PREFIX + workspace
        s.remote.kubectl("create", "namespace", workspace)
        s.remote.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "mesh.openkcm.io/v1alpha1", "kind": "Tenant", "metadata": {"name": name, "namespace": "default"}, "spec": {"workspace": workspace}}))
        for _ in range(3):
            s.original(name, workspace)
    join(s, REMOTE, s.remote.kubeconfig)


def plan_before(s):
    units, notes = s.plan("--compat", "krypton", "-fleet=secrets", *s.chart)
    assert units[PREFIX + "acme"]["action"] == "skip", units
    assert units[PREFIX + "beta"]["action"] == "held" and units[PREFIX + "beta"]["hold"]["code"] == "workspace-open", units
    assert not notes, notes
    units, notes = s.plan("--fleet", "secrets", "--apis", "tenants", *("-" + word for word in s.chart))
    assert units[PREFIX + "acme"]["hold"]["code"] == "drifted", units
    assert any("--chart-install-crds" in n for n in notes) and any("HELM_MAX_HISTORY" in n for n in notes), notes


def forth(s):
    s.start(*s.chart)
    name = PREFIX + "acme"
    s.until(lambda: "HelmSkip" in s.remote.reasons(name), "nothing is upgraded")
    s.until(lambda: s.remote.fingerprint(name) not in (None, s.bare), "the fingerprint is noted with the values")
    s.until(lambda: "WorkspaceOpen" in s.remote.reasons(PREFIX + "beta"), "another workspace is told")
    assert s.remote.ask("GET", f"/api/v1/namespaces/{PREFIX}beta")[0] == 404, "no second release"
    s.remote.kubectl("-n", "default", "annotate", "tenant", PREFIX + "beta", f"windlass.dev/workspace={PREFIX}shop")
    s.until(lambda: "HelmSkip" in s.remote.reasons(PREFIX + "beta"), "the release of its workspace is gone on with")
    assert s.revision(name) == s.revision(PREFIX + "beta") == "3", s.remote.releases()
    assert s.said("chart-install-crds=true (compat krypton)"), "the start line has the defaults"
    s.count("taken_over", 2)


def back_and_forth(s):
    s.end()
    s.original(PREFIX + "acme", PREFIX + "acme")
    s.original(PREFIX + "beta", PREFIX + "shop")
    s.start(*s.chart)
    s.until(lambda: s.remote.fingerprint(PREFIX + "acme") not in (None, s.bare) and s.remote.fingerprint(PREFIX + "beta") not in (None, s.bare), "both are taken over again")
    assert s.revision(PREFIX + "acme") == s.revision(PREFIX + "beta") == "4", s.remote.releases()
    s.count("taken_over", 2)


def deletion(s):
    for name in ("acme", "beta"):
        s.remote.delete(PREFIX + name)
    s.until(lambda: all(s.remote.tenant(PREFIX + n)[0] == 404 for n in ("acme", "beta")), "both go", 60)
    assert not [r for r in s.remote.releases() if PREFIX in r], s.remote.releases()
    assert s.remote.ask("GET", f"/api/v1/namespaces/{PREFIX}shop")[0] == 200, "a namespace that we did not make stays"
    s.end()


def main():
    folder = tenants_played.scratch()
    if not folder:
        return 77
    return tenants_played.play("tenants_krypton" + ("_embedded" if tenants_played.EMBEDDED else ""), folder, Scene(folder), (apply_as_it_was, plan_before, forth, back_and_forth, deletion))


if __name__ == "__main__":
    sys.exit(main())
