#!/usr/bin/env python3
"""The release before this one beside this one: controllers, daemons and kinds of both in every order, changed in the middle of a rollout, and back.

    tests/upgrades/run.py BUILD_FOLDER FORMER_FOLDER        on embedded API servers
    WINDLASS_LIVE_KUBECONFIG=F tests/upgrades/run.py BUILD_FOLDER kept
        on that API server, with the former release that tests/upgrades/former has kept

Plays the kubelets. Ends with one line "## upgrades: …", and with 1 where a rule was broken: more slots than the pool allows, a reboot outside of
a slot or without cordon, a node that boots twice for one image or stays behind, a release of a Tenant that is upgraded twice or not believed.
"""
import functools
import http.server
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent


def kept_former():
    asked = subprocess.run([HERE / "former", "kept"], stdout=subprocess.PIPE, text=True)
    if asked.returncode:
        sys.exit(asked.returncode)
    return asked.stdout.strip()


BUILD, FORMER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(kept_former() if sys.argv[2] == "kept" else sys.argv[2]).resolve()
PROGRAMS = {"new": BUILD, "former": FORMER}
DEPLOY = {"new": HERE.parents[1] / "deploy", "former": FORMER / "deploy"}
IMAGES = [f"registry.live.local/os/node@sha256:{c * 64}" for c in "abc"]
NODES, MOST, LIMIT = 4, 2, 120
KINDS = "/apis/node.bootc.dev/v1alpha1"
problems, told = [], []


class Api:
    """Requests to an API server, by an administrator's kubeconfig."""

    def __init__(self, kubeconfig):
        text = pathlib.Path(kubeconfig).read_text()
        find = lambda key: (re.search(rf'"?{key}"?: *"?([^"\n,}}]+)', text) or [None, ""])[1].strip()
        self.server, self.token, ca = find("server"), find("token"), find("certificate-authority")
        self.context = ssl.create_default_context(cafile=ca or None) if self.server.startswith("https") else None
        if self.context:
            self.context.check_hostname = False

    def ask(self, method, path, body=None, kind="application/json"):
        fields = {"Content-Type": kind, "Accept": "application/json"}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, data, fields, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20, context=self.context) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as why:
            if why.code == 404 or (why.code == 409 and method == "POST"):
                return None
            if why.code == 429:  # a kind that was made a moment ago
                time.sleep(1)
                return self.ask(method, path, body, kind)
            raise RuntimeError(f"{method} {path}: {why.code} {why.read()[:400].decode(errors='replace')}") from None

    def get(self, path):
        return self.ask("GET", path)

    def patch(self, path, body):
        return self.ask("PATCH", path, body, "application/merge-patch+json")

    def apply(self, path, text):
        return self.ask("PATCH", f"{path}?fieldManager=upgrades&force=true", text.encode(), "application/apply-patch+yaml")

    def install_kinds(self, deploy):
        for file in sorted((deploy / "crds").glob("*.yaml")):
            for text in re.split(r"^---$", file.read_text(), flags=re.M):
                name = re.search(r"^  name: (\S+)$", text, re.M)
                if name and "kind: CustomResourceDefinition" in text:
                    self.apply(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name[1]}", text)
        end = time.monotonic() + 20
        while self.get(f"{KINDS}/bootcnodepools") is None and time.monotonic() < end:
            time.sleep(0.2)


class Host:
    """A node, and the daemon on it."""

    def __init__(self, name, world):
        self.name, self.world, self.folder = name, world, world.folder / name
        self.folder.mkdir()
        (self.folder / "booted").write_text(IMAGES[0])
        (self.folder / "stage_seconds").write_text("0.3")
        self.environment = os.environ | {"FAKE_HOST": str(self.folder), "PATH": f"{BUILD / 'fake_host_bin'}:{os.environ['PATH']}", "NODE_NAME": name}
        self.asked = self.boots = 0
        self.down_until, self.daemon, self.version = 0.0, None, ""

    def run(self, version):
        self.end()
        self.version = version
        with open(self.world.folder / f"{self.name}.log", "a") as log:
            self.daemon = subprocess.Popen([PROGRAMS[version] / "windlass-node", "--kubeconfig", self.world.kubeconfig, "--host", "direct", "--host-root",
                                            self.folder, "--bootc-poll-interval", "5"], env=self.environment, stdout=log, stderr=log)

    def end(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
            self.daemon = None

    def reboots(self):
        file = self.folder / "reboots"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def tick(self):
        if self.down_until:
            if time.monotonic() >= self.down_until:
                self.down_until = 0
                subprocess.run(["power_on"], env=self.environment, check=True)
                self.boots += 1
                self.world.report(self.name, True, (self.folder / "boot_id").read_text().strip())
                self.run(self.version)
        elif self.reboots() > self.asked:
            self.asked = self.reboots()
            self.world.check_reboot(self.name)
            self.end()
            self.world.report(self.name, False, "")
            self.down_until = time.monotonic() + 0.5


class World:
    def __init__(self, kubeconfig):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-upgrades-"))
        self.server, self.kubeconfig = None, kubeconfig
        if not kubeconfig:
            self.server = subprocess.Popen([BUILD / "windlass", "apiserver", "--dir", self.folder / "api"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.kubeconfig = self.folder / "api" / "kubeconfig"
            end = time.monotonic() + 20
            while not self.kubeconfig.exists() and time.monotonic() < end:
                time.sleep(0.05)
        self.api, self.hosts, self.services = Api(self.kubeconfig), [], []

    def report(self, name, ready, boot):
        condition = {"type": "Ready", "status": "True" if ready else "False", "reason": "Played", "message": "", "lastHeartbeatTime": None, "lastTransitionTime": None}
        info = dict.fromkeys(["machineID", "systemUUID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion",
                              "operatingSystem", "architecture"], "") | {"bootID": boot}
        self.api.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [condition], "nodeInfo": info}})

    def check_reboot(self, name):
        node, ours = self.api.get(f"/api/v1/nodes/{name}"), self.api.get(f"{KINDS}/bootcnodes/{name}")
        if "bootc.dev/in-reboot-slot" not in ours["metadata"].get("annotations", {}):
            problems.append(f"{name} reboots outside of a slot")
        if not node["spec"].get("unschedulable"):
            problems.append(f"{name} reboots without being cordoned")

    def begin(self, kinds, daemons):
        self.api.install_kinds(DEPLOY[kinds])
        for i in range(NODES):
            name = f"node-{i}"
            self.api.ask("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"upgrades": "yes"}}})
            self.report(name, True, f"boot-{name}")
            self.hosts.append(Host(name, self))
        self.api.ask("POST", f"{KINDS}/bootcnodepools", {
            "apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "workers"},
            "spec": {"nodeSelector": {"matchLabels": {"upgrades": "yes"}}, "image": {"ref": IMAGES[0]}, "rollout": {"maxUnavailable": MOST}}})
        self.run_daemons(daemons)

    def run_daemons(self, version, which=lambda i: True):
        for i, host in enumerate(self.hosts):
            if which(i):
                if host.down_until:
                    host.version = version  # it starts with the host
                else:
                    host.run(version)

    def run_service(self, version, *more):
        log = open(self.folder / f"service-{version}.log", "a")
        self.services.append(subprocess.Popen([PROGRAMS[version] / "windlass", "run", "--kubeconfig", self.kubeconfig, "--metrics-bind-address", "0",
                                               "--health-probe-bind-address", "0", *more], stdout=log, stderr=log, start_new_session=True))

    def end_service(self, how=signal.SIGTERM):
        service = self.services.pop(0)
        service.send_signal(how)
        service.wait(timeout=20)

    def swap_service(self, version, how=signal.SIGTERM):
        self.end_service(how)
        self.run_service(version)

    def roll(self, image, meanwhile=()):
        """Moves the pool; the first of `meanwhile` is called when a slot is taken, each next one a little later."""
        self.api.patch(f"{KINDS}/bootcnodepools/workers", {"spec": {"image": {"ref": image}}})
        due, next_at, end = list(meanwhile), None, time.monotonic() + LIMIT
        while time.monotonic() < end:
            for host in self.hosts:
                host.tick()
            nodes = self.api.get(f"{KINDS}/bootcnodes")["items"]
            taken = [n["metadata"]["name"] for n in nodes if "bootc.dev/in-reboot-slot" in n["metadata"].get("annotations", {})]
            if len(taken) > MOST:
                problems.append(f"{len(taken)} slots are taken: {taken}")
            if due and (taken or next_at) and time.monotonic() >= (next_at or 0):
                due.pop(0)()
                next_at = time.monotonic() + 1.5
            pool = self.api.get(f"{KINDS}/bootcnodepools/workers")
            status = pool.get("status", {})
            done = any(c["type"] == "UpToDate" and c["reason"] == "AllUpdated" for c in status.get("conditions", []))
            if not due and done and status.get("targetDigest") == image.split("@")[1] and not taken:
                return
            time.sleep(0.1)
        raise RuntimeError(f"not all nodes run {image[-4:]} after {LIMIT} s: {json.dumps(status)[:800]}; still to come: {len(due)}")

    def end(self, boots):
        for host in self.hosts:
            if host.boots != boots:
                problems.append(f"{host.name} booted {host.boots} times for {boots} images")
            node = self.api.get(f"/api/v1/nodes/{host.name}")
            if node["spec"].get("unschedulable"):
                problems.append(f"{host.name} was left cordoned")

    def close(self, failed):
        for service in self.services:
            service.kill()
            service.wait()
        for host in self.hosts:
            host.end()
        if failed:
            for log in sorted(self.folder.glob("*.log")):
                print(f"--- {log.name}\n" + "".join(log.read_text().splitlines(keepends=True)[-12:]))
        if self.server:
            self.server.terminate()
            self.server.wait()
        else:
            for host in self.hosts:
                self.api.ask("DELETE", f"/api/v1/nodes/{host.name}")
                self.api.ask("DELETE", f"{KINDS}/bootcnodes/{host.name}")
            self.api.patch(f"{KINDS}/bootcnodepools/workers", {"metadata": {"finalizers": None}})
            self.api.ask("DELETE", f"{KINDS}/bootcnodepools/workers")
        shutil.rmtree(self.folder, ignore_errors=True)


def other(version):
    return "former" if version == "new" else "new"


def beside(service, daemons, kinds):
    """A whole rollout with each part of one version."""
    def play(world):
        world.begin(kinds, daemons)
        world.run_service(service)
        world.roll(IMAGES[1])
        world.end(1)
    return play


def in_the_middle(first, order):
    """Everything is `first`; in the middle of a rollout the parts become the other version in this order, and in the next rollout go back."""
    def play(world):
        def step(part, to):
            return {"kinds": lambda: world.api.install_kinds(DEPLOY[to]), "service": lambda: world.swap_service(to), "killed": lambda: world.swap_service(to, signal.SIGKILL),
                    "half": lambda: world.run_daemons(to, lambda i: i % 2 == 0), "daemons": lambda: world.run_daemons(to)}[part]

        world.begin(first, first)
        world.run_service(first)
        world.roll(IMAGES[1], [step(part, other(first)) for part in order])
        world.roll(IMAGES[2], [step(part, first) for part in reversed(order)])
        world.end(2)
    return play


def standby(first):
    """Both versions hold one Lease: that which has it is killed in the middle, and the other one goes on."""
    def play(world):
        world.begin("new", first)
        namespace = {"metadata": {"name": "bootc-operator"}}
        world.api.ask("POST", "/api/v1/namespaces", namespace)
        lease = ["--leader-elect", "--namespace", "bootc-operator"]
        world.run_service(first, *lease)
        time.sleep(2)
        world.run_service(other(first), *lease)
        world.roll(IMAGES[1], [lambda: world.end_service(signal.SIGKILL)])
        world.end(1)
    return play


def said(world, service):
    """What the commands of both versions say while the service of one is at work."""
    world.begin("new", other(service))
    world.run_service(service)
    world.roll(IMAGES[1])
    for version in PROGRAMS:
        for verb in ("status", "plan"):
            done = subprocess.run([PROGRAMS[version] / "windlass", verb, "--kubeconfig", world.kubeconfig, "-o", "json"], capture_output=True, text=True, timeout=60)
            if done.returncode != 0 or not json.loads(done.stdout):
                problems.append(f"{verb} of the {version} version ended with {done.returncode}: {done.stderr[:300]}")
    world.end(1)


def helm(world, version, *words):
    done = subprocess.run([PROGRAMS[version] / "windlass", "helm", *words, "--kubeconfig", world.kubeconfig], capture_output=True, text=True, timeout=60)
    if done.returncode:
        problems.append(f"helm {words[0]} of the {version} version ended with {done.returncode}: {done.stderr[:300]}")
    return done.stdout


def chart(world, version):
    """A chart's folder; each of its versions says its own in a ConfigMap."""
    folder = world.folder / f"chart-{version}" / "little"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(f"apiVersion: v2\nname: little\nversion: {version}\n")
    (folder / "templates/map.yaml").write_text(f'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ .Release.Name }}}}-little\ndata:\n  version: "{version}"\n')
    return folder


def releases_of_both(world):
    """One release, each revision by another version; both tell the same of it."""
    first = chart(world, "1.0.0"), chart(world, "2.0.0")
    helm(world, "former", "install", "little", first[0])
    helm(world, "new", "upgrade", "little", first[1])
    helm(world, "former", "rollback", "little", "1")
    helm(world, "new", "upgrade", "little", first[1])
    told_by = [json.loads(helm(world, version, "history", "little", "-o", "json") or "[]") for version in PROGRAMS]
    if told_by[0] != told_by[1] or [r["status"] for r in told_by[0]] != ["superseded"] * 3 + ["deployed"]:
        problems.append(f"the history of the release: {told_by}")
    helm(world, "former", "uninstall", "little")


def tenants_of_both(world):
    """A Tenant whose release one version places and the other upgrades, and back: once for each chart, and no record is doubted."""
    shelf = world.folder / "shelf"
    shelf.mkdir()
    for version in ("1.0.0", "2.0.0", "3.0.0"):
        subprocess.run([BUILD / "windlass", "helm", "package", chart(world, version), "-d", shelf], check=True, capture_output=True)
    subprocess.run([BUILD / "windlass", "helm", "repo", "index", shelf], check=True, capture_output=True)
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=shelf)
    repository = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=repository.serve_forever, daemon=True).start()
    try:
        for file in sorted((DEPLOY["new"] / "crds/tenants").glob("*tenants*.yaml")):
            text = file.read_text()
            world.api.apply("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + re.search(r"^  name: (\S+)$", text, re.M)[1], text)
        kind, end = "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants", time.monotonic() + 20
        while world.api.get(kind) is None and time.monotonic() < end:
            time.sleep(0.2)
        world.api.ask("POST", kind, {"apiVersion": "mesh.openkcm.io/v1alpha1", "kind": "Tenant", "metadata": {"name": "acme"}, "spec": {"workspace": "acme"}})
        for revision, (version, wanted) in enumerate([("former", "1.0.0"), ("new", "2.0.0"), ("new", "2.0.0"), ("former", "3.0.0"), ("new", "3.0.0")], 1):
            world.run_service(version, "--apis", "tenants", "--fleet", "self", "--chart-repo", f"http://127.0.0.1:{repository.server_port}", "--chart-name", "little",
                              "--chart-version", wanted)
            end, is_at = time.monotonic() + 60, None
            while time.monotonic() < end and is_at != wanted:
                time.sleep(0.3)
                maps = world.api.get("/api/v1/namespaces/acme/configmaps") or {"items": []}
                is_at = next((m["data"]["version"] for m in maps["items"] if m["metadata"]["name"].endswith("-little")), None)
            time.sleep(2)  # what it would do once more, it would do now
            world.end_service()
            if is_at != wanted:
                raise RuntimeError(f"the Tenant has chart {is_at}, not {wanted}, with the {version} service")
        records = [s for s in world.api.get("/api/v1/namespaces/acme/secrets")["items"] if s.get("type") == "helm.sh/release.v1"]
        if len(records) != 3:
            problems.append(f"{len(records)} revisions for three charts")
        doubts = [e["note"] for e in world.api.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"] if "Doubt" in e["reason"]]
        if doubts:
            problems.append(f"records were doubted: {doubts}")
    finally:
        repository.shutdown()


def questions_of_both(world):
    """What one version recorded of its packs' questions, the other replays with the same answers."""
    world.begin("new", "new")
    for i, version in enumerate(PROGRAMS):
        world.run_service(version, "--record", world.folder / f"{version}.record")
        world.roll(IMAGES[i + 1])
        world.end_service()
    for recorded, replays in itertools.product(PROGRAMS, repeat=2):
        done = subprocess.run([PROGRAMS[replays] / "windlass", "policy", "replay", DEPLOY[replays].parent / "policies/rollout", "--record", world.folder / f"{recorded}.record"], capture_output=True, text=True, timeout=60)
        told.append(f"questions of {recorded} replayed by {replays}: {' '.join(done.stdout.split())[-160:]}")
        if done.returncode:
            problems.append(f"replay of {recorded}'s questions by {replays} ended with {done.returncode}: {(done.stdout + done.stderr)[-400:]}")


def asked_for_more(world, version):
    """A kind of the future asks for a field that neither version knows: the daemon says so and does nothing."""
    world.begin("new", version)
    world.run_service(version)
    world.roll(IMAGES[0])
    kind = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bootcnodes.node.bootc.dev"
    crd = world.api.get(kind)
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["fetchBefore"] = {"type": "string"}
    crd["metadata"].pop("managedFields", None)
    world.api.ask("PUT", kind, crd)
    while world.services:
        world.end_service()
    name = world.hosts[0].name
    end = time.monotonic() + 60
    says = ""
    # A real server goes on for a moment with streams of the kind as it was, which leave the field out; kinds are upgraded before the service.
    time.sleep(5)
    world.api.patch(f"{KINDS}/bootcnodes/{name}", {"spec": {"fetchBefore": "2027-01-01", "desiredImage": IMAGES[1], "desiredImageState": "Booted"}})
    while time.monotonic() < end and "fetchBefore" not in says:
        time.sleep(0.5)
        node = world.api.get(f"{KINDS}/bootcnodes/{name}")
        says = " ".join(c["message"] for c in node.get("status", {}).get("conditions", []) if c["type"] == "Degraded")
    told.append(f"a daemon ({version}) that is asked for a field of the future says: {says or 'nothing'}")
    if "fetchBefore" not in says:
        problems.append(f"the daemon ({version}) does not say that it does not know the field")
    if world.hosts[0].reboots():
        problems.append(f"the daemon ({version}) reboots its host although it does not know what it is asked for")


def scenarios():
    for service, daemons, kinds in itertools.product(PROGRAMS, repeat=3):
        if len({service, daemons, kinds}) > 1:
            yield f"service {service}, daemons {daemons}, kinds {kinds}", beside(service, daemons, kinds)
    for order in itertools.permutations(["kinds", "service", "daemons"]):
        yield f"former, then new in the middle ({', '.join(order)}), and back", in_the_middle("former", order)
    yield "former, half of the daemons new, the service killed, and back", in_the_middle("former", ("kinds", "half", "killed", "daemons"))
    yield "releases by both, revision after revision", releases_of_both
    yield "a Tenant that both place", tenants_of_both
    yield "questions to packs, recorded and replayed by both", questions_of_both
    for first in PROGRAMS:
        yield f"the service {first} is killed, the other version stands by", standby(first)
        yield f"commands of both versions, service {first}", lambda world, v=first: said(world, v)
        yield f"a daemon {first} asked for a field of the future", lambda world, v=first: asked_for_more(world, v)


def main():
    kubeconfig = os.environ["WINDLASS_LIVE_KUBECONFIG"] if sys.argv[2] == "kept" else None
    only = os.environ.get("WINDLASS_UPGRADES", "")
    count = failed = 0
    for name, play in scenarios():
        if only and only not in name:
            continue
        count += 1
        before, began, world = len(problems), time.monotonic(), World(kubeconfig)
        try:
            play(world)
        except Exception as why:  # noqa: BLE001  the others are tried all the same
            problems.append(str(why))
        finally:
            world.close(len(problems) > before)
        bad = problems[before:]
        failed += bool(bad)
        print(("FAILED: " if bad else "ok: ") + f"{name} ({time.monotonic() - began:.1f} s)" + "".join(f"\n    {p}" for p in bad), flush=True)
    for line in told:
        print(line)
    print(f"## upgrades: {count} pairs and orders, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
