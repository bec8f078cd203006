#!/usr/bin/env python3
"""The brake at home, put on by kubectl and by command, with a real API server and the service at work: how long after its landing the
last act came; off goes on where it was; an order lets one pool go on beside another that waits; a speed limit.

    tests/live/brake.py BUILD_FOLDER

No node of these pools runs a daemon, so a rollout ends as soon as every BootcNode has its image. Where a rollout has to be under way, the pool is
asked for one image after another until the brake is on: there is work left however fast the machine is.
"""
import itertools
import json
import subprocess
import threading
import time

from one_server import KUBECONFIG, KUBECTL, WINDLASS, check, end, install_kinds, kubectl, wait, work

NODES = 200
POOLS = ("brake-a", "brake-b")
LIMIT, WINDOW = 30, 60  # --max-changes 30/minute
new_images = (f"registry.example.com/os@sha256:{n:064x}" for n in itertools.count(1))


def windlass(*arguments):
    return subprocess.run([WINDLASS, *arguments, "--kubeconfig", KUBECONFIG, "--fleet", "self", "--apis", "bootc"], capture_output=True, text=True, timeout=120)


def pool(name, ref):
    kubectl("apply", "-f", "-", input=json.dumps({
        "apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": name},
        "spec": {"nodeSelector": {"matchLabels": {"pool": name}}, "image": {"ref": ref}}}))


class Acts:
    """What a watch shows of BootcNodes: which node was asked for which image, and when this was seen first."""

    def __init__(self):
        self.now, self.times = {}, {}
        self.watch = subprocess.Popen([*KUBECTL, "get", "bootcnodes", "-w", "--no-headers", "-o", "custom-columns=N:.metadata.name,I:.spec.desiredImage"],
                                      stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.watch.stdout:
            name, image = line.split()
            if self.now.get(name) != image:
                self.now[name] = image
                self.times.setdefault((name.rsplit("-", 1)[0], image), []).append(time.monotonic())

    def count(self, name, image):
        return len(self.times.get((name, image), []))

    def after(self, name, moment):
        """How many acts in this pool were seen later, and when the last one was."""
        late = [at for (of, _), seen in list(self.times.items()) if of == name for at in list(seen) if at > moment]
        return len(late), max(late, default=moment)


class Work(threading.Thread):
    """Asks the first pool for another image whenever half of its nodes have the last one."""

    def __init__(self, acts):
        super().__init__(daemon=True)
        self.acts, self.image, self.done = acts, next(new_images), threading.Event()
        pool("brake-a", self.image)
        self.start()

    def run(self):
        while not self.done.wait(0.02):
            if self.acts.count("brake-a", self.image) > NODES // 2:
                self.image = next(new_images)
                pool("brake-a", self.image)

    def finish(self):
        self.done.set()
        self.join()


def lands(acts, what, put_on):
    """Puts the brake on in the middle of what goes on in the first pool. The image that the pool is asked for afterwards, and does not get."""
    at_work = Work(acts)
    first = at_work.image
    wait(f"{what}: the service is at work", lambda: acts.count("brake-a", first) > 10, 60)
    began = time.monotonic()
    put_on()
    landed = time.monotonic()
    time.sleep(5)
    at_work.finish()
    late, last = acts.after("brake-a", landed)
    meanwhile = acts.after("brake-a", began)[0] - late
    print(f"## live_brake: {what}: {meanwhile} acts while it was put on; the last one was seen {last - landed:.2f} s after the landing", flush=True)
    check(f"{what}: no act later than a second after the landing", last - landed <= 1, last - landed)
    image = next(new_images)
    pool("brake-a", image)
    time.sleep(5)
    check(f"{what}: nothing begins while it is on", acts.count("brake-a", image) == 0 and acts.after("brake-a", last)[0] == 0)
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
    image = lands(acts, "by kubectl", lambda: kubectl("apply", "-f", "-", input=by_hand))
    said = windlass("brake", "status")
    check("by kubectl: status says why", said.returncode == 0 and "the brake is on: by hand" in said.stdout, said)
    said = windlass("brake", "off")
    check("off", said.returncode == 0, said)
    wait("off goes on where it was", lambda: acts.count("brake-a", image) == NODES, 120)

    other = next(new_images)
    pool("brake-b", other)
    wait("the second pool has its image", lambda: acts.count("brake-b", other) == NODES, 120)
    lands(acts, "by command", lambda: check("brake on", windlass("brake", "on", "--why", "a test").returncode == 0))

    other, fix, later = itertools.islice(new_images, 3)
    pool("brake-b", other)
    said = windlass("rollout", "set-image", "brake-a", fix, "--no-lookup", "--override-brake", "--yes")
    check("an order without a reason is wrong usage", said.returncode == 2 and "--why" in said.stderr, said)
    said = windlass("rollout", "set-image", "brake-a", fix, "--no-lookup", "--override-brake", "--why", "hotfix", "--yes")
    check("an order is written", said.returncode == 0, said)
    wait("the order lets its pool go on", lambda: acts.count("brake-a", fix) == NODES, 120)
    check("the other pool waits", acts.count("brake-b", other) == 0)
    said = windlass("brake", "status")
    check("status lists the order", "order lets it go on although the brake is on" in said.stdout and "hotfix" in said.stdout, said)
    wait("an Event tells of it", lambda: any("hotfix" in e.get("message", "") for e in events("BrakeOverridden")), 30)
    # Another brake is not overridden.
    check("brake on again", windlass("brake", "on", "--why", "another test").returncode == 0)
    kubectl("patch", "bootcnodepool", "brake-a", "--type=merge", "-p", json.dumps({"spec": {"image": {"ref": later}}}))
    wait("an Event says why an order does nothing", lambda: events("OverrideVoid"), 30)
    time.sleep(5)
    check("an order is for one brake and one image", acts.count("brake-a", later) == 0)
    check("off again", windlass("brake", "off").returncode == 0)
    for name, wanted in zip(POOLS, (later, other)):
        wait(f"{name} goes on", lambda name=name, wanted=wanted: acts.count(name, wanted) == NODES, 120)

    stop(service)
    image, started = next(new_images), time.monotonic()
    service = serve("--max-changes", f"{LIMIT}/minute")
    pool("brake-a", image)
    wait("changes begin under a speed limit", lambda: acts.count("brake-a", image) > 0, 2 * WINDOW)
    wait("plan says what the service noted", lambda: "speed-limit" in windlass("plan", "-o", "json").stdout, 30)
    wait("more of them in the next minute", lambda: acts.count("brake-a", image) > LIMIT, 2 * WINDOW)
    # A change is seen after it began, so none of these can be seen too early, however slow the machine is.
    early = [(n, at - started) for n, at in enumerate(acts.times.get(("brake-a", image), [])) if at - started < WINDOW * (1 + n // LIMIT)]
    check(f"none in the first minute of a process, and {LIMIT} at most in each one after it", not early, early)
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
