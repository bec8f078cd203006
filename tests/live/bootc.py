#!/usr/bin/env python3
"""OS images from real registries on a real API server: docker-registry plain, with a certificate of its own authority, behind
htpasswd and behind a token issuer; controller and daemons under the ServiceAccounts and arguments of deploy/, RBAC and
admission on; the fake host fetches what it stages with the login that the daemon gave it. Tags move, passwords are wrong,
a registry stops, and whoever works is killed in the middle. In one file: a scenario goes on from the pool that the one before it left.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_AUDIT=LOG KUBEBUILDER_ASSETS=D tests/live/bootc.py BUILD_FOLDER

Ends with one JSON line: {"scenarios", "kills", "violations", "converged", "forbidden", "denied", "requests", "seconds"}.
"""
import base64
import hashlib
import http.server
import json
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import deploy
import rollout
from rollout import kubectl

PROGRAM = shutil.which("docker-registry")
NAMESPACE, USER, PASSWORD = "bootc-operator", "puller", "s3cret-of-the-registry"
BCRYPT = "$2b$04$IdPQpQTIE3kEuw/.mmkBuuyCiv9SadAtDVYkvRWQDGwtytrMauMKi"  # of it: what htpasswd -B writes
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"

# What `bootc switch` does about the network: the manifest, with the login that the host shows.
FETCH = """#!/usr/bin/env python3
import base64, json, os, re, ssl, sys, urllib.error, urllib.request
host, path = sys.argv[1].split("/", 1)
name, digest = path.split("@")
context = ssl.create_default_context(cafile=%(ca)r)
scheme = "http" if host in %(plain)r else "https"
auth, proof = os.path.join(os.environ["FAKE_HOST"], "run/ostree/auth.json"), None
if os.path.exists(auth):
    proof = json.load(open(auth))["auths"].get(host, {}).get("auth")
def get(url, authorization):
    fields = {"Accept": "%(manifest)s, %(index)s"}
    if authorization: fields["Authorization"] = authorization
    return urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=10, context=context).read()
url = f"{scheme}://{host}/v2/{name}/manifests/{digest}"
try:
    try:
        get(url, f"Basic {proof}" if proof else None)
    except urllib.error.HTTPError as why:
        asked = why.headers.get("WWW-Authenticate", "")
        if why.code != 401 or not asked.startswith("Bearer"): raise
        said = dict(re.findall(r'(\\w+)="([^"]*)"', asked))
        token = json.loads(get(f'{said["realm"]}?service={said["service"]}&scope={said["scope"]}', f"Basic {proof}" if proof else None))["token"]
        get(url, f"Bearer {token}")
except urllib.error.HTTPError as why:
    sys.exit({401: "unauthorized", 403: "denied", 404: "manifest unknown"}.get(why.code, str(why)) + f": {sys.argv[1]}")
except OSError as why:
    sys.exit(f"{why}: {sys.argv[1]}")
"""


def openssl(*arguments, text=None):
    done = subprocess.run(["openssl", *map(str, arguments)], input=text, capture_output=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr.decode()}")
    return done.stdout


class Authority:
    """Certificates for 127.0.0.1, and whoever signs tokens."""

    def __init__(self, folder):
        self.ca, self.key, self.certificate = folder / "ca.crt", folder / "server.key", folder / "server.crt"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=registries of the test", "-keyout", folder / "ca.key", "-out", self.ca)
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", self.key, "-out", folder / "server.csr")
        extensions = folder / "server.ext"
        extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        openssl("x509", "-req", "-in", folder / "server.csr", "-CA", self.ca, "-CAkey", folder / "ca.key", "-CAcreateserial", "-days", 2, "-extfile", extensions, "-out", self.certificate)

    def token(self, service, scope):
        part = lambda b: base64.urlsafe_b64encode(b).rstrip(b"=")
        kind, name, actions = scope.split(":")
        now = int(time.time())
        der = openssl("x509", "-in", self.certificate, "-outform", "DER")
        head = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
        claims = {"iss": "issuer of the test", "sub": USER, "aud": service, "iat": now, "nbf": now - 10, "exp": now + 120, "jti": str(now),
                  "access": [{"type": kind, "name": name, "actions": [a for a in actions.split(",") if a == "pull"]}]}
        signed = part(json.dumps(head).encode()) + b"." + part(json.dumps(claims).encode())
        return (signed + b"." + part(openssl("dgst", "-sha256", "-sign", self.key, text=signed))).decode()


class Issuer:
    """Gives a token to whoever knows the password."""

    def __init__(self, authority):
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
                if self.headers.get("Authorization") != wanted:
                    self.send_response(401)
                    self.end_headers()
                    return
                body = json.dumps({"token": authority.token(asked["service"][0], asked["scope"][0])}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.certificate, authority.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.realm = f"https://127.0.0.1:{self.server.server_address[1]}/token"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Registry:
    """docker-registry over the one store that all of them serve."""
    all = []

    def __init__(self, name, folder, authority, auth=None, tls=True):
        self.name, self.authority, self.tls, self.process = name, authority, tls, None
        self.host = f"127.0.0.1:{deploy.free_port()}"
        config = {"version": 0.1, "log": {"level": "error", "accesslog": {"disabled": True}},
                  "storage": {"filesystem": {"rootdirectory": str(folder / "store")}},
                  "http": {"addr": self.host, **({"tls": {"certificate": str(authority.certificate), "key": str(authority.key)}} if tls else {})},
                  **({"auth": auth} if auth else {})}
        self.config, self.log = folder / f"{name}.yml", open(folder / f"{name}.log", "a")
        self.config.write_text(json.dumps(config))
        Registry.all.append(self)

    def ask(self, path, method="GET", body=None, fields=None):
        context = ssl.create_default_context(cafile=self.authority.ca) if self.tls else None
        url = path if "://" in path else f"{'https' if self.tls else 'http'}://{self.host}{path}"
        with urllib.request.urlopen(urllib.request.Request(url, data=body, method=method, headers=fields or {}), timeout=10, context=context) as answer:
            return answer.read(), answer.headers

    def start(self):
        self.process = subprocess.Popen([PROGRAM, "serve", self.config], stdout=self.log, stderr=self.log)
        for _ in range(150):
            try:
                self.ask("/v2/")
                return
            except urllib.error.HTTPError as why:
                if why.code == 401:
                    return
                raise
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"docker-registry {self.name} did not start")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def blob(self, repository, content):
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        place = self.ask(f"/v2/{repository}/blobs/uploads/", "POST", b"")[1]["Location"]
        self.ask(place + ("&" if "?" in place else "?") + "digest=" + digest, "PUT", content, {"Content-Type": "application/octet-stream"})
        return {"digest": digest, "size": len(content)}

    def put(self, repository, reference, manifest, kind):
        self.ask(f"/v2/{repository}/manifests/{reference}", "PUT", manifest, {"Content-Type": kind})

    def push(self, repository, text):
        """An index of one image: what bootc images of several architectures are. Gives its digest and its bytes."""
        config = self.blob(repository, b"{}") | {"mediaType": "application/vnd.oci.image.config.v1+json"}
        layer = self.blob(repository, text.encode()) | {"mediaType": "application/vnd.oci.image.layer.v1.tar"}
        image = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]}).encode()
        digest = "sha256:" + hashlib.sha256(image).hexdigest()
        self.put(repository, digest, image, MANIFEST)
        index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
            {"mediaType": MANIFEST, "digest": digest, "size": len(image), "platform": {"architecture": "amd64", "os": "linux"}}]}).encode()
        digest = "sha256:" + hashlib.sha256(index).hexdigest()
        self.put(repository, digest, index, INDEX)
        return digest, index


def one_manifest(_folder, _namespace):
    kubectl("apply", "--server-side", "-f", str(deploy.ROOT / "deploy/install.yaml"))
    # Which Secret pools may name.
    for role, verbs in [("bootc-operator-pull-secrets", ["get", "list", "watch"]), ("bootc-operator-daemon", ["get"])]:
        kubectl("patch", "role", role, "-n", NAMESPACE, "--type=merge", "-p",
                json.dumps({"rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["login"], "verbs": verbs}]}))


class Machine(deploy.DaemonMachine):
    fetch = ""

    def start(self):
        fetch = self.folder / "fetch"
        if not fetch.exists():
            fetch.write_text(Machine.fetch)
            fetch.chmod(0o755)
        super().start()


class Scene(deploy.Install):
    REPOSITORY = "os/node"

    def __init__(self, folder):
        super().__init__(one_manifest, NAMESPACE, folder / "cluster")
        self.prefix, self.nodes = "os", [f"os-{i}" for i in range(1, 4)]
        self.authority = Authority(folder)
        self.issuer = Issuer(self.authority)
        (folder / "htpasswd").write_text(f"{USER}:{BCRYPT}\n")
        make = lambda name, **how: Registry(name, folder, self.authority, **how)
        self.registries = {r.name: r for r in [
            make("plain", tls=False), make("tls"), make("htpasswd", auth={"htpasswd": {"realm": "test", "path": str(folder / "htpasswd")}}),
            make("token", auth={"token": {"realm": self.issuer.realm, "service": "registry-of-the-test", "issuer": "issuer of the test", "rootcertbundle": str(self.authority.ca)}})]}
        for r in self.registries.values():
            r.start()
        plain = self.registries["plain"]
        self.images = [plain.push(self.REPOSITORY, f"image {i}") for i in range(6)]
        Machine.fetch = FETCH % {"ca": str(self.authority.ca), "plain": [plain.host], "manifest": MANIFEST, "index": INDEX}
        rollout.IMAGES[0] = self.at("plain", 0)
        deploy.DaemonMachine = Machine
        self.scenarios, self.kills, self.resting = [], 0, {}

    # The world.
    def at(self, registry, image):
        return f"{self.registries[registry].host}/{self.REPOSITORY}@{self.images[image][0]}"

    def tag(self, name, image):
        self.registries["plain"].put(self.REPOSITORY, name, self.images[image][1], INDEX)

    def tagged(self, registry, name):
        return f"{self.registries[registry].host}/{self.REPOSITORY}:{name}"

    def pool(self, ref, **more):
        spec = {"nodeSelector": {"matchLabels": {"pool": self.prefix}}, "image": {"ref": ref}, "rollout": {"maxUnavailable": 2} | more.pop("rollout", {})} | more
        rollout.apply({"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": self.prefix}, "spec": spec})

    def login(self, password=PASSWORD):
        proof = base64.b64encode(f"{USER}:{password}".encode()).decode()
        config = {"auths": {self.registries[r].host: {"auth": proof} for r in ("htpasswd", "token")}}
        rollout.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": NAMESPACE}, "type": "kubernetes.io/dockerconfigjson",
                       "data": {".dockerconfigjson": base64.b64encode(json.dumps(config).encode()).decode()}})
        return {"pullSecretRef": {"name": "login", "namespace": NAMESPACE}}

    def start_controller(self):
        self.controller_pod = deploy.Pod(self.deployment, "controller-0", f"{self.prefix}-control", self.folder)
        self.go_on()

    def go_on(self):
        self.controller = self.controller_pod.start(open(self.folder / "controller.log", "a"), "--tag-resolution-interval=1s", *(f"--allow-insecure-registry={r.host}" for r in Registry.all if not r.tls),
                                                    f"--registry-ca-file={self.authority.ca}")

    # What is there.
    def status(self):
        pool = json.loads(kubectl("get", "bootcnodepool", self.prefix, "-o", "json"))
        return pool, pool.get("status", {})

    def step(self):
        if self.controller.poll() is not None:
            raise RuntimeError(f"the controller ended with {self.controller.returncode}")
        self.place_daemons()
        for m in self.machines:
            if m.daemon and m.daemon.poll() is not None:
                raise RuntimeError(f"the daemon of {m.name} ended with {m.daemon.returncode}")
            m.tick()
        for pod in rollout.get("pods", "-n", "default"):
            if "deletionTimestamp" in pod["metadata"]:
                kubectl("delete", "pod", pod["metadata"]["name"], "-n", "default", "--grace-period=0", "--force", "--wait=false", "--ignore-not-found")
        if (held := len(rollout.slots())) > 2:
            rollout.problems.append(f"{held} nodes hold slots, 2 may")

    def until(self, true, what, limit=180, each=None):
        end = time.monotonic() + limit
        while not true():
            if time.monotonic() > end:
                pool, _ = self.status()
                raise RuntimeError(f"{what}: not within {limit} s: {rollout.condition(pool, 'UpToDate')} {rollout.condition(pool, 'Degraded')}")
            self.step()
            if each:
                each()
            time.sleep(0.1)

    def runs(self, image):
        digest = self.images[image][0]
        pool, status = self.status()
        return status.get("targetDigest") == digest == status.get("deployedDigest") and status.get("updatedCount") == len(self.nodes) == status.get("nodeCount") \
            and rollout.condition(pool, "UpToDate")[1] == "AllUpdated" and rollout.condition(pool, "Degraded")[1] == "Healthy" and not rollout.slots()

    def degraded(self, reason, words=""):
        found = rollout.condition(self.status()[0], "Degraded")
        return found[1] == reason and words in found[2]

    def done(self, name):
        self.scenarios.append(name)
        print(f"live bootc: {name}", flush=True)

    def reboots(self):
        return {m.name: m.boots for m in self.machines}

    @staticmethod
    def proc(machine, file):
        return pathlib.Path(f"/proc/{machine.daemon.pid}/{file}").read_text()

    def spent(self):
        """Nanoseconds on a processor, by daemon."""
        return {m.name: int(self.proc(m, "schedstat").split()[0]) for m in self.machines}

    # The scenarios.
    def joins(self):
        self.pool(self.at("plain", 0))
        if json.loads(kubectl("get", "bootcnodepool", self.prefix, "-o", "json"))["spec"]["image"]["ref"] != self.at("plain", 0):
            raise RuntimeError("the pool does not read back")
        self.done("T106 reads back")
        self.until(lambda: self.runs(0), "nodes join on their own image")
        for m in self.machines:
            ours = json.loads(kubectl("get", "bootcnode", m.name, "-o", "json"))
            node = json.loads(kubectl("get", "node", m.name, "-o", "json"))
            assert ours["metadata"]["ownerReferences"][0]["kind"] == "BootcNodePool" and "bootc.dev/managed" in node["metadata"]["labels"], ours
            assert ours["status"]["booted"]["imageDigest"] == self.images[0][0] and rollout.condition(ours, "Idle")[1] == "Idle", ours["status"]
        daemons = [p for p in rollout.get("pods", "-n", f"{NAMESPACE}-daemon", "-l", "app.kubernetes.io/component=daemon")]
        assert sorted(p["spec"]["nodeName"] for p in daemons) == self.nodes, daemons
        self.done("T107 a worker on its own image")

    def moves(self):
        rebooting = set()

        def watch():
            rebooting.update(b["metadata"]["name"] for b in rollout.get("bootcnodes") if rollout.condition(b, "Idle")[1] == "Rebooting")

        before = self.reboots()
        self.pool(self.at("plain", 1))
        self.until(lambda: self.runs(1), "the update image", each=watch)
        assert rebooting == set(self.nodes), rebooting
        assert self.reboots() == {n: c + 1 for n, c in before.items()}, self.reboots()
        for m in self.machines:
            assert not json.loads(kubectl("get", "node", m.name, "-o", "json"))["spec"].get("unschedulable"), m.name
        self.done("T108 to the update image, each rebooted once")
        self.pool(self.at("plain", 0))
        self.until(lambda: self.runs(0), "back on the old image")
        self.done("T109 back on the old digest")

    def follows_tags(self):
        here = 0
        for registry in self.registries:
            there = here + 1 if here + 1 < 3 else 0
            self.tag("stable", here)
            self.pool(self.tagged(registry, "stable"), **(self.login() if registry in ("htpasswd", "token") else {}))
            self.until(lambda: self.runs(here) and self.status()[1].get("resolvedRef") == self.tagged(registry, "stable"), f"{registry}: the tag is resolved")
            self.tag("stable", there)
            self.until(lambda: self.runs(there), f"{registry}: the tag moved")
            here = there
            self.done(f"T110 a tag moves: {registry}" + (", T115 behind a pull secret" if registry in ("htpasswd", "token") else ""))
        self.here = here
        for m in self.machines:
            auth = m.folder / "run/ostree/auth.json"
            assert auth.exists() and auth.stat().st_mode & 0o777 == 0o600, auth

    def has_a_wrong_password(self):
        self.login("not-this-one")
        self.tag("stable", self.here)
        self.until(lambda: self.degraded("TagResolutionError"), "a wrong password is reported")
        pool, status = self.status()
        assert status["targetDigest"] == self.images[self.here][0], status
        said = json.dumps(pool) + (self.folder / "controller.log").read_text()
        assert "not-this-one" not in said and PASSWORD not in said and base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode() not in said
        self.login()
        self.until(lambda: self.runs(self.here), "the right one cures it")
        self.done("a wrong password keeps the target, and is cured")

    def loses_its_registry(self):
        registry = self.registries["tls"]
        self.tag("stable", self.here)
        self.pool(self.tagged("tls", "stable"))
        self.until(lambda: self.runs(self.here), "on the tls registry")
        registry.stop()
        self.until(lambda: self.degraded("TagResolutionError"), "a registry that is gone is reported")
        there = 3
        self.tag("stable", there)
        registry.start()
        self.until(lambda: self.runs(there), "it is back, and the tag had moved")
        self.here = there
        self.done("a registry stops, and starts again")

    def pauses(self):
        self.pool(self.at("plain", 4), rollout={"paused": True})
        self.until(lambda: all(rollout.condition(b, "Idle")[1] == "Staged" for b in rollout.get("bootcnodes")), "all stage while paused")
        end, before = time.monotonic() + 10, self.spent()
        self.until(lambda: time.monotonic() > end, "ten seconds")
        self.resting = {"daemon_cpu_percent": round(max(after - before[name] for name, after in self.spent().items()) / 1e8, 2),
                        **{name: round(max(int(re.search(rf"{figure}:\s+(\d+)", self.proc(m, "status"))[1]) for m in self.machines) / 1024, 1)
                           for name, figure in [("daemon_rss_mb", "VmRSS"), ("daemon_own_mb", "RssAnon")]}}
        if self.resting["daemon_rss_mb"] > 15 or self.resting["daemon_own_mb"] > 4:
            rollout.problems.append(f"a daemon that rests has {self.resting['daemon_rss_mb']} MB, {self.resting['daemon_own_mb']} MB of its own")
        assert all(rollout.condition(b, "Idle")[1] == "Staged" for b in rollout.get("bootcnodes")) and not rollout.slots()
        assert rollout.condition(self.status()[0], "UpToDate")[1] == "Paused"
        self.pool(self.at("plain", 4))
        self.until(lambda: self.runs(4), "resumed")
        self.done("T111 paused, staged, resumed")

    def names_what_is_not_there(self):
        before = self.reboots()
        missing = self.at("plain", 4).split("@")[0] + "@sha256:" + "9" * 64
        self.pool(missing)
        self.until(lambda: self.status()[1].get("degradedCount") == len(self.nodes), "nodes report what cannot be fetched")
        status = self.status()[1]
        assert status.get("updatedCount", 0) == 0 and status.get("updatingCount", 0) == 0 and self.degraded("NodeDegraded"), status
        for b in rollout.get("bootcnodes"):
            said = rollout.condition(b, "Degraded")[2]
            assert said.startswith("bootc stage failed: ") and "manifest unknown" in said and not b["status"].get("staged"), b["status"]
            assert b["status"]["booted"]["imageDigest"] == self.images[4][0]
        assert self.reboots() == before
        self.pool(self.at("plain", 4))
        self.until(lambda: self.runs(4), "cured by the image before")
        self.done("T112 a digest that does not exist")

    def is_killed(self, times=20):
        """Controller and daemons in turn, while the fleet rolls back and forth. The next controller waits for the Lease of the one before."""
        target, next_kill, before = 4, time.monotonic(), self.reboots()
        rolled, next_controller = 0, time.monotonic() + 2

        def kill():
            nonlocal next_kill, next_controller
            now = time.monotonic()
            if self.kills >= times or now < next_kill:
                return
            next_kill = now + 2
            if now > next_controller and rollout.slots():
                next_controller = now + 18
                self.controller.kill()
                self.controller.wait()
                self.go_on()
            else:
                machine = self.machines[self.kills % len(self.machines)]
                if machine.daemon is None:
                    return
                machine.kill()
                machine.start()
            self.kills += 1

        while self.kills < times:
            target = 5 if target == 4 else 4
            self.pool(self.at("plain", target))
            self.until(lambda: self.runs(target), "a rollout with kills", limit=300, each=kill)
            rolled += 1
        after = self.reboots()
        for name, count in after.items():
            if count != before[name] + rolled:
                rollout.problems.append(f"{name} rebooted {count - before[name]} times for {rolled} images")
        self.done(f"killed {self.kills} times in {rolled} rollouts, one reboot for each")


def run(s):
    s.apply()
    s.make_nodes()
    s.start_controller()
    s.joins()
    s.moves()
    s.follows_tags()
    s.has_a_wrong_password()
    s.loses_its_registry()
    s.pauses()
    s.names_what_is_not_there()
    s.is_killed()
    converged = s.runs(5) or s.runs(4)
    s.stop()
    time.sleep(0.5)  # the audit log's last lines
    answers = s.answers()
    forbidden = [f"{a['user']['username']}: {a['verb']} {a['requestURI']}" for a in answers if a.get("responseStatus", {}).get("code") in (401, 403)]
    for line in sorted(set(forbidden)):
        print(f"live bootc: FORBIDDEN: {line}")
    denied = s.others_are_denied()
    s.done("a daemon's token is denied another node's object")
    return converged, len(answers), len(forbidden), denied


def main():
    if not PROGRAM:
        print("live bootc: SKIPPED: no docker-registry")
        print("##", json.dumps({"skipped": "docker-registry"}))
        return 0
    folder, began = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-")), time.monotonic()
    scene, problem, total = None, None, {"scenarios": 0, "kills": 0, "violations": 0, "converged": False, "forbidden": 0}
    deploy.remove_kinds()
    try:
        scene = Scene(folder)
        converged, requests, forbidden, denied = run(scene)
        total |= {"converged": converged, "forbidden": forbidden, "denied": denied, "requests": requests}
    except Exception as why:  # noqa: BLE001  what a person needs is the logs
        problem = why
    finally:
        if scene:
            scene.stop()
            if problem:
                scene.log_tail()
            scene.remove()
            total |= {"scenarios": len(scene.scenarios), "kills": scene.kills} | scene.resting
        for r in Registry.all:
            r.stop()
    total |= {"violations": len(rollout.problems), "seconds": round(time.monotonic() - began)}
    for line in rollout.problems:
        print("live bootc: VIOLATION:", line)
    shutil.rmtree(folder, ignore_errors=True)
    if problem:
        print(f"live bootc: FAILED: {type(problem).__name__}: {problem}")
    print("##", json.dumps(total))
    return 1 if problem or total["violations"] or total["forbidden"] or not total["converged"] else 0


if __name__ == "__main__":
    sys.exit(main())
