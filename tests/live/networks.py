#!/usr/bin/env python3
"""What other people's networks and files do, with a real API server: a balancer that ends silent streams after 5 s, one that buffers
every answer until its end, and a kubeconfig of three contexts of which two cannot be used.

    tests/live/networks.py BUILD_FOLDER
"""
import json
import pathlib
import subprocess
import time

from middleman import middleman
from one_server import KUBECONFIG, WINDLASS, check, end, install_kinds, kubectl, wait, work


def reason_of(pool):
    found = json.loads(kubectl("get", "bootcnodepool", pool, "-o", "json")).get("status", {}).get("conditions", [])
    return {c["type"]: c["reason"] for c in found}.get("Degraded")


def pool(name):
    """One that the controller refuses and the API server takes: its pull secret lies elsewhere."""
    text = {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": name},
            "spec": {"nodeSelector": {"matchLabels": {"of": name}}, "image": {"ref": "quay.io/org/os:latest"},
                     "pullSecretRef": {"name": "pull", "namespace": "elsewhere"}}}
    kubectl("apply", "-f", "-", input=json.dumps(text))


def follows(name, seconds, first=0, **how):
    """A service behind the balancer sees each change of a pool, five in a row, between which nothing happens for a while. The first
    one may take longer, until the service knows the balancer."""
    between = middleman(KUBECONFIG, **how)
    log = open(work / f"{name}.log", "w")
    service = subprocess.Popen([WINDLASS, "run", "--kubeconfig", between.kubeconfig(work / name), "--fleet", "self", "--apis", "bootc",
                                "--metrics-bind-address", "0", "--health-probe-bind-address", "0"], stdout=log, stderr=log)
    try:
        for i in range(5):
            if i:
                time.sleep(7)  # so that the stream was ended at least once
            one = f"{name}-{i}"
            pool(one)
            if not wait(f"{name}: change {i + 1} is seen", lambda one=one: reason_of(one) == "InvalidSpec", seconds if i else max(first, seconds)):
                break
        check(f"{name}: the service runs on", service.poll() is None)
    finally:
        service.terminate()
        service.wait()
        kubectl("delete", "bootcnodepool", "--all")
    return between


install_kinds()
cutting = follows("cut", 15)
check("cut: streams were ended", cutting.cut >= 3, cutting.cut)

follows("buffered", 20, first=120, buffers=True)
check("buffered: the log tells of it", "a proxy or balancer buffers them" in (work / "buffered.log").read_text())

text = pathlib.Path(KUBECONFIG).read_text()
three = work / "three"
three.write_text(text.replace("users: [", "users: [{name: byprogram, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}}}, ")
                 .replace("contexts: [", "contexts: [{name: eks, context: {cluster: live, user: byprogram}}, {name: gone, context: {cluster: none, user: admin}}, "))
listed = subprocess.run([WINDLASS, "cluster", "list", "--fleet", "contexts", "--kubeconfig", str(three), "-o", "json"], capture_output=True, text=True)
rows = {c["name"]: c for c in json.loads(listed.stdout or '{"clusters": []}')["clusters"]}
check("contexts: all three are rows", set(rows) == {"eks", "gone", "live"}, listed)
check("contexts: the good one is Live", rows.get("live", {}).get("state") == "Live", rows)
check("contexts: the others are Invalid and say why", "interactiveMode is missing" in rows.get("eks", {}).get("lastError", "")
      and "names a cluster that is not there" in rows.get("gone", {}).get("lastError", ""), rows)
end("networks")
