#!/usr/bin/env python3
"""`plan --image`, `rollout set-image`, `history`, `undo` and a field of another field manager, with a real API server.

    tests/live/undo.py BUILD_FOLDER
"""
import json
import subprocess
import time

from one_server import KUBECONFIG, WINDLASS, check, end, install_kinds, kubectl, wait, work

OLD, NEW = ("registry.example.com/os@sha256:" + c * 64 for c in "ab")


def windlass(*arguments):
    return subprocess.run([WINDLASS, *arguments, "--kubeconfig", KUBECONFIG, "--fleet", "self", "--apis", "bootc"], capture_output=True, text=True, timeout=120)


def image():
    return json.loads(kubectl("get", "bootcnodepool", "undo", "-o", "json"))["spec"]["image"]["ref"]


def pool(ref):
    return json.dumps({"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "undo"},
                       "spec": {"nodeSelector": {"matchLabels": {"pool": "undo"}}, "image": {"ref": ref}}})


install_kinds()
kubectl("apply", "-f", "-", input=pool(OLD))
for n in (1, 2):
    kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"undo-{n}", "labels": {"pool": "undo"}}}))
    kubectl("patch", "node", f"undo-{n}", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}))
log = open(work / "run.log", "w")
service = subprocess.Popen([WINDLASS, "run", "--kubeconfig", KUBECONFIG, "--fleet", "self", "--apis", "bootc", "--metrics-bind-address", "0",
                            "--health-probe-bind-address", "0"], stdout=log, stderr=log)
try:
    until = time.monotonic() + 60
    while time.monotonic() < until and len(kubectl("get", "bootcnodes", "-o", "name").split()) < 2:
        time.sleep(0.5)
    for n in (1, 2):  # as its daemon would
        kubectl("patch", "bootcnode", f"undo-{n}", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
            "booted": {"image": OLD, "imageDigest": OLD.split("@")[1]},
            "conditions": [{"type": "Idle", "status": "True", "reason": "Idle", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}))
    time.sleep(5)
    before = kubectl("get", "bootcnodepool", "undo", "-o", "jsonpath={.metadata.generation}")
    said = windlass("plan", "--image", f"undo={NEW}", "-o", "json")
    rows = [p for c in json.loads(said.stdout)["clusters"] for p in c["pools"] if p["name"] == "undo"]
    check("plan --image: names who goes first", rows and len(rows[0]["start"]) >= 1, said)
    check("plan --image: writes nothing", image() == OLD and kubectl("get", "bootcnodepool", "undo", "-o", "jsonpath={.metadata.generation}") == before)
    said = windlass("plan", "--image", f"undo={NEW}")
    check("plan --image: says what is fetched and in how many steps", "2 nodes fetch it; 2 nodes boot it in 2 steps" in said.stdout, said)
    said = windlass("plan", "--image", f"wrong={NEW}")
    check("plan --image: a pool that is not there", said.returncode == 1 and '"wrong"' in said.stderr, said)

    said = windlass("rollout", "set-image", "undo", NEW)
    check("set-image: shown only", image() == OLD, said)
    said = windlass("rollout", "set-image", "undo", NEW, "--yes")
    check("set-image: written", said.returncode == 0 and image() == NEW, said)
    said = windlass("rollout", "history", "undo", "-o", "json")
    history = json.loads(said.stdout)["clusters"][0]["history"]
    check("history: both, with manager and user", [h["target"] for h in history] == [OLD, NEW] and history[0]["manager"] == "kubectl-client-side-apply"
          and history[1]["manager"] == "windlass" and history[1]["by"], history)
    said = windlass("rollout", "undo", "undo", "--yes")
    check("undo: back", said.returncode == 0 and image() == OLD, said)
    said = windlass("rollout", "undo", "undo", "--to-revision", "2", "--yes")
    check("undo: to a revision", said.returncode == 0 and image() == NEW, said)
    said = windlass("rollout", "status", "undo", "--watch", "--timeout", "5")
    check("watch: ends at its time with 1", said.returncode == 1 and "after 5s (--timeout)" in said.stderr, said)

    kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller", "-f", "-", input=pool(NEW))
    said = windlass("rollout", "set-image", "undo", OLD, "--yes")
    check("a field of argocd-controller: refused, by its name", said.returncode == 1 and "argocd-controller" in said.stdout and image() == NEW, said)
    said = windlass("rollout", "set-image", "undo", OLD, "--yes", "--force")
    check("a field of argocd-controller: forced", said.returncode == 0 and image() == OLD, said)
finally:
    service.terminate()
    service.wait()
    kubectl("delete", "bootcnodepool", "undo", "--wait=false")
    kubectl("patch", "bootcnodepool", "undo", "--type=merge", "-p", '{"metadata":{"finalizers":null}}', check=False)
    kubectl("delete", "bootcnodes", "--all", "--wait=false")
    kubectl("delete", "node", "undo-1", "undo-2")
end("undo")
