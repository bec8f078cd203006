#!/usr/bin/env python3
"""Tries on a real API server, with RBAC and admission on, what each account has no right to: the administrator of a tenant's namespace, the
daemon of a node that was taken over, the service's token in other hands. The table is tests/hostile/rights.json, which tests/hostile tries
on the embedded server; here the admission policies of the chart are judged as well. All that the chart installs is on. Afterwards every
object outside the tenant's namespace must be what it was.

    WINDLASS_LIVE_OWN_KUBECONFIG=F KUBEBUILDER_ASSETS=D tests/live/rights.py BUILD_FOLDER

Ends with one JSON line: {"tenant", "daemon", "service", "works", "changed"}.
"""
import base64
import copy
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
KUBECONFIG = os.environ["WINDLASS_LIVE_OWN_KUBECONFIG"]
KUBECTL = [str(pathlib.Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl"), "--kubeconfig", KUBECONFIG]
VALUES = "namespace.create=true,releases.enabled=true,trustee.enabled=true,tenants.enabled=true,kryptondeployments.enabled=true,controller.policies=rules,pullSecrets={pull},fleetPools.enabled=true,fleetCharts.enabled=true"
ACCOUNTS = {"tenant": ("team", "boss"), "daemon": ("bootc-operator-daemon", "bootc-operator-daemon"), "service": ("bootc-operator", "bootc-operator-controller-manager")}
DEFAULT_GRANTS = {"system:discovery": ["authenticated"], "system:public-info-viewer": ["authenticated", "unauthenticated"]}
NODE = "n2"  # of the daemon's pod: the table speaks for n1


def kubectl(*arguments, text=None):
    done = subprocess.run([*KUBECTL, *arguments], input=text, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Server:
    def __init__(self):
        config = json.loads(kubectl("config", "view", "--raw", "--flatten", "--minify", "-o", "json"))
        self.admin = config["users"][0]["user"]["token"]
        cluster = config["clusters"][0]["cluster"]
        self.host = cluster["server"].removeprefix("https://")
        self.trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self.trust.check_hostname = False  # the certificate names kubernetes, and the loopback address has no name

    def ask(self, token, method, path, body=None, kind="application/json", impersonate=None):
        headers = {"Authorization": "Bearer " + token, "Content-Type": kind, "Accept": "application/json"}
        if impersonate:
            headers |= {"Impersonate-User": impersonate["user"]} | ({"Impersonate-Group": impersonate["group"]} if "group" in impersonate else {})
        connection = http.client.HTTPSConnection(self.host, context=self.trust, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            # A watch that is let in has no end.
            return answer.status, answer.read(4096).decode(errors="replace") if answer.status >= 300 or "watch=1" not in path else ""
        finally:
            connection.close()


def install():
    rendered = subprocess.run([BUILD / "windlass", "helm", "template", "bootc-operator", ROOT / "deploy/chart", "-n", "bootc-operator", "--set", f"image.registry=registry.example.com,{VALUES}"],
                              capture_output=True, text=True, check=True).stdout
    # A test before may have left the original operator there, whose selector cannot be changed.
    kubectl("delete", "deployment", "bootc-operator-controller-manager", "-n", "bootc-operator", "--ignore-not-found")
    kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "deploy/crds/tenants"))
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=rendered)
    kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    # No controller here adds up the rules of ClusterRoles.
    roles = json.loads(kubectl("get", "clusterroles", "-o", "json"))["items"]
    for role in roles:
        if (rule := role.get("aggregationRule")) and role["metadata"]["name"].startswith("bootc-operator"):
            wanted = [s["matchLabels"] for s in rule["clusterRoleSelectors"]]
            rules = [r for one in roles for r in one.get("rules") or [] if any(w.items() <= one["metadata"].get("labels", {}).items() for w in wanted)]
            kubectl("patch", "clusterrole", role["metadata"]["name"], "--type=merge", "-p", json.dumps({"rules": rules}))
    kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "tests/hostile/rights_stage.yaml"))
    daemon = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "daemon-0", "namespace": "bootc-operator-daemon"},
              "spec": {"nodeName": NODE, "serviceAccountName": "bootc-operator-daemon", "automountServiceAccountToken": False, "containers": [{"name": "daemon", "image": "i"}]}}
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(daemon))


def tokens():
    out = {who: kubectl("create", "token", account, "-n", namespace).strip() for who, (namespace, account) in ACCOUNTS.items() if who != "daemon"}
    namespace, account = ACCOUNTS["daemon"]
    # As it lies on the node: bound to the daemon's pod.
    return out | {"daemon": kubectl("create", "token", account, "-n", namespace, "--bound-object-kind", "Pod", "--bound-object-name", "daemon-0").strip()}


def everything():
    """Every object outside the namespace of the tenant, without what a server writes by itself."""
    kinds = [line.split()[0] for line in kubectl("api-resources", "--verbs=list", "-o", "name").splitlines()]
    kinds = [k for k in kinds if not k.startswith(("events", "componentstatuses", "leases"))]
    out = {}
    for item in json.loads(kubectl("get", ",".join(kinds), "-A", "-o", "json"))["items"]:
        meta = item["metadata"]
        if "team" in (meta.get("namespace"), meta["name"] if item["kind"] == "Namespace" else None):
            continue
        same = copy.deepcopy(item)
        for field in ("resourceVersion", "managedFields", "generation"):
            same["metadata"].pop(field, None)
        if item["kind"] != "BootcNode":
            same.pop("status", None)
        out[f"{item['kind']} {meta.get('namespace', '')}/{meta['name']}"] = json.dumps(same, sort_keys=True)
    # The last word on the Lease that the table tries to take.
    out["Lease"] = kubectl("get", "lease", "bootc-operator.bootc.dev", "-n", "bootc-operator", "-o", "jsonpath={.spec}")
    return out


def main():
    server = Server()
    install()
    # As hardened clusters have it: no account reads the version or the kinds by default.
    kubectl("delete", "clusterrolebinding", *DEFAULT_GRANTS)
    try:
        return judge(server)
    finally:
        for name, groups in DEFAULT_GRANTS.items():
            kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", *[f"--group=system:{g}" for g in groups])


def judge(server):
    held = tokens()
    table = json.loads((ROOT / "tests/hostile/rights.json").read_text())
    total, problems = {"tenant": 0, "daemon": 0, "service": 0, "works": 0, "changed": 0}, []

    def tried(way):
        kind = way.get("type") or ("application/merge-patch+json" if way["method"] == "PATCH" else "application/json")
        return server.ask(held[way["as"]], way["method"], way["path"], way.get("body"), kind, way.get("impersonate"))

    # Authorizer and admission learn of new objects a moment later: an empty answer of a policy that is not there yet would be let in.
    probe = {"as": "service", "method": "POST", "path": "/api/v1/namespaces?dryRun=All", "body": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "probe"}}}
    end = time.monotonic() + 60
    while (said := tried(probe))[0] != 422:
        if time.monotonic() > end:
            raise RuntimeError(f"the admission policy does not answer: {said}")
        time.sleep(0.5)
    before = everything()
    for way in (w for w in table if not w.get("works")):
        code, said = tried(way)
        # 422 is the answer of an admission policy.
        if code == (422 if way.get("admission") else 403):
            total[way["as"]] += 1
        else:
            problems.append(f"{way['as']} {way['way']}: {code} {said[:300]}")
    after = everything()
    for name in sorted(set(before) | set(after)):
        if before.get(name) != after.get(name):
            total["changed"] += 1
            problems.append(f"changed: {name}")
    for way in (w for w in table if w.get("works")):
        code, said = tried(way)
        if code in (200, 201):
            total["works"] += 1
        else:
            problems.append(f"{way['as']} {way['way']}: {code} {said[:300]}")
    for problem in problems:
        print("live rights: FAILED:", problem)
    if total["tenant"] < 40:
        problems.append("fewer than 40 ways")
    print("##", json.dumps(total))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
