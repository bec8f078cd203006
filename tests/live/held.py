#!/usr/bin/env python3
"""What stands in the way of a drain, on a real API server: a PodDisruptionBudget (also over a pod that is not Ready), an admission webhook that denies
evictions, a pod that two budgets select, a pod whose finalizer stays, and a node whose kubelet is gone. For each of them `status`, `plan`, `explain`, the BootcNode's
annotations, the pool's conditions and the Events must say the same and name the object; the hour of the next attempt lies ahead; `status` counts as the pool does.

    WINDLASS_LIVE_KUBECONFIG=F KUBEBUILDER_ASSETS=D tests/live/held.py BUILD_FOLDER
"""
import base64
import datetime
import http.server
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import rollout
from rollout import BUILD, IMAGES, KUBECONFIG, ROOT, apply, kubectl, report_node

DENIES = "evictions are denied by this test"
WEBHOOK = "no-evictions.held.test"


class Review(http.server.BaseHTTPRequestHandler):
    """Denies whatever it is asked about."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                           "response": {"uid": asked["request"]["uid"], "allowed": False, "status": {"message": DENIES}}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_webhook(folder):
    """Serves on loopback with a certificate of its own; returns the bundle and the URL."""
    key, certificate = folder / "webhook.key", folder / "webhook.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Review)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, base64.b64encode(certificate.read_bytes()).decode(), f"https://127.0.0.1:{server.server_address[1]}/"


def windlass(*arguments):
    done = subprocess.run([BUILD / "windlass", *arguments, "--kubeconfig", KUBECONFIG, "--apis", "bootc"], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"windlass {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Case:
    """A pool with one node, on which a pod stands in the way. `words`: what everybody says."""

    def __init__(self, name, code, *words):
        self.name, self.code, self.words = name, code, words
        self.node = self.namespace = f"held-{name}"

    def prepare(self):
        apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace, "labels": {"held": self.name}}},
              {"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.node, "labels": {"held": self.name}}})
        report_node(self.node, True, f"boot-{self.node}")
        self.make_pod()

    def make_pod(self, finalizers=(), ready=True):
        apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db-0", "namespace": self.namespace, "labels": {"app": "db"}, "finalizers": list(finalizers)},
               "spec": {"nodeName": self.node, "automountServiceAccountToken": False, "containers": [{"name": "main", "image": "live/app:1"}]}})
        self.report_pod(ready)

    def report_pod(self, ready):
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
        kubectl("patch", "pod", "db-0", "-n", self.namespace, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))

    def make_budget(self, name):
        """As the disruption controller would leave it, which no bare API server has."""
        apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": self.namespace},
               "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}})
        self.report_budget(name, 1)

    def report_budget(self, name, healthy):
        made = json.loads(kubectl("get", "pdb", name, "-n", self.namespace, "-o", "json"))
        status = {"observedGeneration": made["metadata"]["generation"], "disruptionsAllowed": 0, "currentHealthy": healthy, "desiredHealthy": 1, "expectedPods": 1}
        kubectl("patch", "pdb", name, "-n", self.namespace, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))

    def begin(self):
        apply({"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": self.node},
               "spec": {"nodeSelector": {"matchLabels": {"held": self.name}}, "image": {"ref": IMAGES[1]}}})
        wait(f"{self.node} has its BootcNode", lambda: kubectl("get", "bootcnode", self.node, "--ignore-not-found", "-o", "name"))
        booted, staged = ({"image": i, "imageDigest": i.split("@")[1]} for i in IMAGES[:2])
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = [{"type": "Idle", "status": "False", "reason": "Staged", "message": "", "lastTransitionTime": now},
                      {"type": "Degraded", "status": "False", "reason": "Healthy", "message": "", "lastTransitionTime": now}]
        kubectl("patch", "bootcnode", self.node, "--subresource=status", "--type=merge", "-p",
                json.dumps({"status": {"booted": booted, "staged": staged, "conditions": conditions}}))

    def noted(self):
        of = json.loads(kubectl("get", "bootcnode", self.node, "-o", "json"))["metadata"].get("annotations", {})
        return {key: of.get(f"windlass.dev/{key}", "") for key in ("hold", "hold-reason", "hold-released-by")}

    def is_noted(self):
        note = self.noted()
        return note["hold"] == self.code and all(word in note["hold-reason"] for word in self.words)

    def check(self):
        wait(f"{self.node} says {self.words}", self.is_noted, lambda: self.noted())
        note = self.noted()
        found = json.loads(windlass("explain", self.node, "-o", "json"))["found"]
        hold = found[0]["hold"]
        expect(len(found) == 1 and hold["code"] == self.code, f"{self.node}: explain: {found}")
        for word in self.words:
            expect(word in hold["reason"], f"{self.node}: explain does not say {word}: {hold}")
        text = " ".join(windlass("explain", self.node).split())
        for word in (*self.words, f"[{self.code}]"):
            expect(word in text, f"{self.node}: explain does not print {word}: {text}")
        for command in ("status", "plan"):
            told = json.dumps(json.loads(windlass(command, "-o", "json")))
            for word in (self.code, *self.words) if command == "status" else (self.node,):
                expect(json.dumps(word)[1:-1] in told, f"{self.node}: {command} does not say {word}")
        pool = json.loads(kubectl("get", "bootcnodepool", self.node, "-o", "json"))["status"]
        expect(self.code in pool.get("held", {}), f"{self.node}: the pool counts {pool.get('held')}")
        rows = [r for c in json.loads(windlass("status", "-o", "json"))["clusters"] for r in c["pools"] if r["name"] == self.node]
        expect(rows[0]["degraded"] == pool["degradedCount"], f"{self.node}: status counts {rows[0]['degraded']} degraded, the pool {pool['degradedCount']}")
        reasons = [p["reason"] for p in rows[0]["problems"]]
        degraded = [c for c in pool["conditions"] if c["type"] == "Degraded" and c["status"] == "True"]
        expect(reasons == [c["reason"] for c in degraded], f"{self.node}: status has the problems {reasons}, the pool {degraded}")
        if self.code != "draining":  # work under way is no Event
            wait(f"an Event about {self.node}", lambda: [e for e in rollout.get("events", "-A") if e.get("reason") == "Stuck"
                                                         and e["involvedObject"]["name"] == self.node and self.code in e["message"]])
        if self.code == "drain-failed":
            self.check_hours()
        print(f"live held: {self.name}: {note['hold-reason']} [{self.code}]", flush=True)

    def check_hours(self):
        """Over three attempts the hour that is told is never one that has passed."""
        for _ in range(12):
            said = self.noted()["hold-released-by"]
            begins = "the next attempt at "
            expect(said.startswith(begins), f"{self.node}: {said}")
            at = datetime.datetime.fromisoformat(said[len(begins):].replace("Z", "+00:00"))
            late = (datetime.datetime.now(datetime.timezone.utc) - at).total_seconds()
            expect(late < 3, f"{self.node}: the next attempt was {late:.0f} s ago")
            time.sleep(1)


def wait(what, holds, seen=lambda: "", limit=60):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.5)
    raise RuntimeError(f"not within {limit} s: {what} {seen()}")


def expect(holds, otherwise):
    if not holds:
        rollout.problems.append(otherwise)


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-held-"))
    service, server = None, None
    budget = Case("budget", "pdb", "the PodDisruptionBudget held-budget/db allows no eviction of held-budget/db-0")
    webhook = Case("webhook", "drain-failed", "held-webhook/db-0", f'admission webhook "{WEBHOOK}" denied the request', DENIES)
    two = Case("two", "drain-failed", "held-two/db-0", "more than one PodDisruptionBudget")
    finalizer = Case("finalizer", "draining", "held-finalizer/db-0 was told to end at", "its finalizers keep it (held.test/stays)")
    dead = Case("dead", "draining", "held-dead/db-0 was told to end at", "Node held-dead is not Ready")
    cases = [budget, webhook, two, finalizer, dead]
    try:
        kubectl("apply", "--server-side", "-f", str(ROOT / "deploy/crds"))
        kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "crd/bootcnodes.node.bootc.dev", "--timeout=20s")
        server, bundle, url = start_webhook(folder)
        apply({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "held"},
               "webhooks": [{"name": WEBHOOK, "sideEffects": "None", "admissionReviewVersions": ["v1"], "clientConfig": {"url": url, "caBundle": bundle},
                             "namespaceSelector": {"matchLabels": {"held": "webhook"}},
                             "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}]}]})
        for case in cases:
            case.prepare()
        budget.make_budget("db")
        two.make_budget("db")
        two.make_budget("db-too")
        kubectl("patch", "pod", "db-0", "-n", finalizer.namespace, "--type=merge", "-p", '{"metadata":{"finalizers":["held.test/stays"]}}')
        service = rollout.start_windlass(folder)
        for case in cases:
            case.begin()
        wait("the dead node has a slot", lambda: dead.node in rollout.slots())
        report_node(dead.node, False, f"boot-{dead.node}")
        for case in cases:
            case.check()
        budget.report_budget("db", 0)
        budget.report_pod(ready=False)
        budget.words = (*budget.words, "held-budget/db-0 is not Ready", "unhealthyPodEvictionPolicy")
        budget.check()
        if rollout.problems:
            raise RuntimeError("\n".join(rollout.problems))
        print("live held: every obstacle is named alike in every place")
        return 0
    except (RuntimeError, subprocess.TimeoutExpired) as why:
        print(f"live held: FAILED: {why}")
        log = folder / "run.log"
        print(log.read_text()[-4000:] if log.exists() else "")
        return 1
    finally:
        if service:
            service.terminate()
            service.wait()
        if server:
            server.shutdown()
        kubectl("delete", "validatingwebhookconfiguration", "held", "--ignore-not-found")
        for case in cases:
            for kind in ("bootcnodepool", "bootcnode"):
                if kubectl("get", kind, case.node, "--ignore-not-found", "-o", "name"):
                    kubectl("patch", kind, case.node, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
                    kubectl("delete", kind, case.node, "--ignore-not-found", "--wait=false")
            if kubectl("get", "pod", "db-0", "-n", case.namespace, "--ignore-not-found", "-o", "name"):
                kubectl("patch", "pod", "db-0", "-n", case.namespace, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
                kubectl("delete", "pod", "db-0", "-n", case.namespace, "--grace-period=0", "--force", "--wait=false", "--ignore-not-found")
            kubectl("delete", "node", case.node, "--ignore-not-found", "--wait=false")
            kubectl("delete", "namespace", case.namespace, "--ignore-not-found", "--wait=false")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
