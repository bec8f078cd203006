#!/usr/bin/env python3
"""The brake at home, put on by kubectl and by command, with a real API server and the service at work: how long after its landing the
last act came; off goes on where it was; an order lets one pool go on beside another that waits; a speed limit.

    tests/live/brake.py BUILD_FOLDER
"""
import json
import subprocess
import threading
import time

from one_server import KUBECONFIG, KUBECTL, WINDLASS, check, end, install_kinds, kubectl, wait, work

NODES = 200
IMAGES = ["registry.example.com/os@sha256:" + c * 64 for c in "abc"]
POOLS = ("brake-a", "brake-b")


def windlass(*arguments):
    return subprocess.run([WINDLASS, *arguments, "--kubeconfig", KUBECONFIG, "--fleet", "self", "--apis", "bootc"], capture_output=True, text=True, timeout=120)


def pool(name, ref):
    kubectl("apply", "-f", "-", input=json.dumps({
        "apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": name},
        "spec": {"nodeSelector": {"matchLabels": {"pool": name}}, "image": {"ref": ref}}}))


class Acts:
    """What a watch shows of BootcNodes: which node was asked for which image, and when this was seen first."""

    def __init__(self):
        self.seen, self.last = {}, {}
        self.watch = subprocess.Popen([*KUBECTL, "get", "bootcnodes", "-w", "--no-headers", "-o", "custom-columns=N:.metadata.name,I:.spec.desiredImage"],
                                      stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.watch.stdout:
            name, image = line.split()
            if self.seen.get(name) != image:
                self.seen[name] = image
                self.last[name.rsplit("-", 1)[0]] = time.monotonic()

    def count(self, name, image):
        return sum(of.startswith(name + "-") and is_now == image for of, is_now in list(self.seen.items()))


def lands(acts, what, images, put_on):
    """Puts the brake on in the middle of what goes on in the first pool. Where the pool is done before it lands, that is tried again
    with the next image. The image at which it stood still."""
    for image in images:
        pool("brake-a", image)
        wait(f"{what}: the service is at work", lambda image=image: acts.count("brake-a", image) > 10, 60)
        put_on()
        landed = time.monotonic()
        time.sleep(5)
        stood = acts.count("brake-a", image)
        if stood < NODES:
            break
        windlass("brake", "off")
    late = acts.last.get("brake-a", 0) - landed
    print(f"## live_brake: {what}: the last act was seen {late:.2f} s after the landing, {stood} of {NODES} nodes had it", flush=True)
    check(f"{what}: no act later than a second after the landing", late <= 1, late)
    check(f"{what}: it landed in the middle", stood < NODES, stood)
    time.sleep(5)
    check(f"{what}: nothing begins while it is on", acts.count("brake-a", image) == stood, stood)
    return image


def serve(*more):
    log = open(work / "run.log", "a")
    return subprocess.Popen([WINDLASS, "run", "--kubeconfig", KUBECONFIG, "--fleet", "self", "--apis", "bootc", "--metrics-bind-address", "0",
                             "--health-probe-bind-address", "0", *more], stdout=log, stderr=log)


def stop(service):
    service.terminate()
    service.wait(timeout=60)


def events(reason):
    return [e for e in json.loads(kubectl("get", "events", "-A", "-o", "json"))["items"] if e["reason"] == reason]


install_kinds()
kubectl("delete", "configmap", "windlass-brake", "--ignore-not-found")
for name in POOLS:
    for first in range(0, NODES, 100):
        kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{name}-{n}", "labels": {"pool": name}}} for n in range(first, first + 100)]}))
acts = Acts()
service = serve()
try:
    time.sleep(2)
    by_hand = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "windlass-brake"}, "data": {"state": "on", "why": "by hand"}})
    image = lands(acts, "by kubectl", IMAGES * 2, lambda: kubectl("apply", "-f", "-", input=by_hand))
    said = windlass("brake", "status")
    check("by kubectl: status says why", said.returncode == 0 and "the brake is on: by hand" in said.stdout, said)
    said = windlass("brake", "off")
    check("off", said.returncode == 0, said)
    wait("off goes on where it was", lambda: acts.count("brake-a", image) == NODES, 120)

    pool("brake-b", IMAGES[0])
    wait("the second pool has its image", lambda: acts.count("brake-b", IMAGES[0]) == NODES, 120)
    others = [i for i in IMAGES if i != image] * 3
    image = lands(acts, "by command", others, lambda: check("brake on", windlass("brake", "on", "--why", "a test").returncode == 0))

    pool("brake-b", IMAGES[1])
    fix, former = [i for i in IMAGES if i != image]
    said = windlass("rollout", "set-image", "brake-a", fix, "--no-lookup", "--override-brake", "--yes")
    check("an order without a reason is wrong usage", said.returncode == 2 and "--why" in said.stderr, said)
    said = windlass("rollout", "set-image", "brake-a", fix, "--no-lookup", "--override-brake", "--why", "hotfix", "--yes")
    check("an order is written", said.returncode == 0, said)
    wait("the order lets its pool go on", lambda: acts.count("brake-a", fix) == NODES, 120)
    check("the other pool waits", acts.count("brake-b", IMAGES[1]) == 0)
    said = windlass("brake", "status")
    check("status lists the order", "order lets it go on although the brake is on" in said.stdout and "hotfix" in said.stdout, said)
    check("an Event tells of it", any("hotfix" in e.get("message", "") for e in events("BrakeOverridden")))
    # Another brake is not overridden.
    check("brake on again", windlass("brake", "on", "--why", "another test").returncode == 0)
    kubectl("patch", "bootcnodepool", "brake-a", "--type=merge", "-p", json.dumps({"spec": {"image": {"ref": former}}}))
    time.sleep(5)
    check("an order is for one brake and one image", acts.count("brake-a", former) == 0)
    check("an Event says why it does nothing", events("OverrideVoid"))
    check("off again", windlass("brake", "off").returncode == 0)
    for name, wanted in zip(POOLS, (former, IMAGES[1])):
        wait(f"{name} goes on", lambda name=name, wanted=wanted: acts.count(name, wanted) == NODES, 120)

    stop(service)
    service = serve("--max-changes", "30/minute")
    pool("brake-a", fix)
    time.sleep(40)
    check("a service that has just started begins nothing", acts.count("brake-a", fix) == 0)
    wait("then 30 changes begin", lambda: acts.count("brake-a", fix) > 0, 40)
    time.sleep(20)
    had = acts.count("brake-a", fix)
    check("and no more in that minute", 0 < had <= 30, had)
    said = windlass("plan", "-o", "json")
    check("plan says what the service noted", "speed-limit" in said.stdout, said.stdout[:500])
finally:
    stop(service)
    acts.watch.kill()
    kubectl("delete", "configmap", "windlass-brake", "--ignore-not-found")
    for name in POOLS:
        kubectl("patch", "bootcnodepool", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}', check=False)
        kubectl("delete", "bootcnodepool", name, "--ignore-not-found", "--timeout=30s", check=False)
        kubectl("delete", "nodes", "-l", f"pool={name}", "--wait=false", check=False)
    kubectl("delete", "bootcnodes", "--all", "--wait=false", check=False)
end("live_brake")
