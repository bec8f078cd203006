#!/usr/bin/env python3
"""The pack of docs/compose by the command as it ships, on `windlass apiserver` and on a real API server: made, repaired, killed while
it writes, cleaned. On the real one no controller manager runs, so what is deleted there is deleted by windlass.

    tests/live/compose.py build/release      (tests/live/run starts the server)
"""
import base64
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WINDLASS = str(pathlib.Path(sys.argv[1]).resolve() / "windlass")
COMPOSE = ROOT / "docs" / "compose"
KINDS = ("configmap", "secret", "deployment")


class Scene:
    def __init__(self, name, kubeconfig):
        self.name, self.kubeconfig = name, str(kubeconfig)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-compose-"))
        self.record = self.folder / "record"
        self.log = open(self.folder / "windlass.log", "w+")
        self.kills = 0
        self.running = None

    def kubectl(self, *arguments, check=True):
        done = subprocess.run([os.path.join(os.environ["KUBEBUILDER_ASSETS"], "kubectl"), "--kubeconfig", self.kubeconfig, *arguments],
                              capture_output=True, text=True, timeout=60)
        if check and done.returncode != 0:
            raise RuntimeError(f"{self.name}: kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def get(self, kind, name="blue-shop"):
        text = self.kubectl("get", kind, name, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text.strip() else None

    def patch(self, kind, name, patch, *more):
        self.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(patch), *more)

    def until(self, what, holds, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return
            time.sleep(0.2)
        self.log.seek(0)
        print(self.log.read()[-6000:], self.kubectl("get", "shops,configmaps,deployments", "-o", "yaml", check=False)[-6000:])
        raise SystemExit(f"{self.name}: not within {seconds} s: {what}")

    def windlass(self, *arguments):
        return [WINDLASS, *arguments, "--apis", "compose", "--policies", str(COMPOSE / "shop"), "--kubeconfig", self.kubeconfig]

    def start(self):
        self.running = subprocess.Popen(self.windlass("run", "--log-level", "debug", "--record", str(self.record)), stdout=self.log,
                                        stderr=self.log)

    def stop(self, how=signal.SIGTERM):
        self.running.send_signal(how)
        self.running.wait(timeout=20)
        self.kills += how == signal.SIGKILL

    def composed(self):
        shop = self.get("shop", "blue")
        conditions = {c["type"]: c["status"] for c in (shop or {}).get("status", {}).get("conditions", [])}
        return conditions.get("Composed") == "True" and self.get("deployment") is not None

    def plan(self):
        done = subprocess.run(self.windlass("plan", "-o", "json"), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def recorded(self):
        return "".join(p.read_text(errors="replace") for p in self.folder.glob("record*"))

    def play(self):
        self.kubectl("apply", "-f", str(COMPOSE / "crd.yaml"))
        self.kubectl("wait", "--for=condition=Established", "crd/shops.example.com", "--timeout=30s")
        self.until("the kind is served", lambda: '"items"' in self.kubectl("get", "shops", "-o", "json", check=False))
        self.kubectl("apply", "-f", str(COMPOSE / "shop.yaml"))
        before = self.plan()
        for what in ("create ConfigMap blue-shop", "create Secret blue-shop"):
            assert what in before, (what, before)
        assert all(self.get(kind) is None for kind in KINDS), "who looks writes nothing"
        self.start()
        # Killed at moments while it writes: nothing is made twice, and it converges.
        for _ in range(6):
            time.sleep(random.uniform(0.3, 1.5))
            self.stop(signal.SIGKILL)
            self.start()
        self.until("everything is there", self.composed)
        key = self.get("secret")["data"]["key"]
        version = {kind: self.get(kind)["metadata"]["resourceVersion"] for kind in KINDS}
        self.stop(signal.SIGKILL)
        self.start()
        time.sleep(8)
        assert version == {kind: self.get(kind)["metadata"]["resourceVersion"] for kind in KINDS}, "a restart writes nothing"
        # Drift.
        self.patch("configmap", "blue-shop", {"data": {"greeting": "edited", "theirs": "stays"}})
        self.until("the field is repaired", lambda: self.get("configmap")["data"] == {"greeting": "hello", "theirs": "stays"})
        self.kubectl("delete", "deployment", "blue-shop", "--wait=false")
        self.until("the Deployment is made anew", lambda: (self.get("deployment") or {}).get("spec", {}).get("replicas") == 2)
        self.patch("shop", "blue", {"spec": {"replicas": 3}})
        self.until("the change arrives", lambda: self.get("deployment")["spec"]["replicas"] == 3)
        self.patch("deployment", "blue-shop", {"status": {"observedGeneration": self.get("deployment")["metadata"]["generation"], "replicas": 3,
                   "readyReplicas": 3, "updatedReplicas": 3, "availableReplicas": 3}}, "--subresource=status")
        self.until("it is ready", lambda: '"RolledOut"' in json.dumps(self.get("shop", "blue")))
        assert self.get("secret")["data"]["key"] == key, "the key was made once"
        (self.folder / "key").write_bytes(base64.b64decode(key))
        derived = subprocess.run(["openssl", "pkey", "-in", str(self.folder / "key"), "-pubout"], capture_output=True, check=True).stdout
        assert derived == base64.b64decode(self.get("secret")["data"]["key.pub"]), "the pair belongs together"
        # Plan, on the live objects.
        self.stop()
        self.patch("configmap", "blue-shop", {"data": {"greeting": "edited"}})
        plan = self.plan()
        assert 'data.greeting: \\"edited\\" → \\"hello\\"' in plan, plan
        # What was said and written elsewhere has no byte of a secret.
        assert "compose.sync" in self.recorded(), "it is recorded"
        elsewhere = self.kubectl("get", "events", "-A", "-o", "json") + self.kubectl("get", "shops,configmaps,deployments", "-o", "json")
        self.log.seek(0)
        said = self.log.read() + before + plan + elsewhere + self.recorded()
        for name, value in self.get("secret")["data"].items():
            plain = base64.b64decode(value).decode()
            for needle in {value, plain, plain.splitlines()[1] if "\n" in plain else plain}:
                assert needle not in said, f"{name} was said"
        # The end.
        self.start()
        self.kubectl("delete", "shop", "blue", "--wait=false")
        self.until("nothing is left", lambda: all(self.get(kind) is None for kind in KINDS) and self.get("shop", "blue") is None)
        print(f"## live compose on {self.name}: {self.kills} kills, drift repaired, deletion cleaned, one key pair, no byte said, "
              f"a record of {len(self.recorded())} bytes searched")

    def end(self):
        if self.running:
            self.running.kill()
            self.running.wait()
        self.kubectl("delete", "crd", "shops.example.com", "--wait=false", check=False)


def play(name, kubeconfig):
    sync_input = Scene(name, kubeconfig)
    try:
        sync_input.play()
    finally:
        sync_input.end()


embedded = pathlib.Path(tempfile.mkdtemp(prefix="windlass-embedded-"))
server = subprocess.Popen([WINDLASS, "apiserver", "--clusters", "1", "--no-workloads", "--dir", str(embedded)], stdout=subprocess.DEVNULL)
try:
    for _ in range(100):
        if list(embedded.glob("*kubeconfig*")):
            break
        time.sleep(0.1)
    time.sleep(1)
    play("windlass apiserver", next(embedded.glob("*kubeconfig*")))
finally:
    server.kill()
    server.wait()
play("kube-apiserver", os.environ["WINDLASS_LIVE_KUBECONFIG"])
