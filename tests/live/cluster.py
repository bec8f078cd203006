#!/usr/bin/env python3
"""A second real cluster and an embedded one join the fleet of a real home: docs/clusters.md as it is written, and what it promises. The
service runs under its own ServiceAccount at home and under the tokens that `cluster add` made on the members; nothing it asks may be
forbidden, and no token may be printed.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_AUDIT=LOG WINDLASS_LIVE_SECOND=F WINDLASS_LIVE_SECOND_AUDIT=LOG KUBEBUILDER_ASSETS=D \\
        tests/live/cluster.py BUILD_FOLDER

Ends with one JSON line: {"clusters", "rolled", "requests", "forbidden", "renewed", "steps"}.
"""
import base64
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import deploy
import played
import rollout
from rollout import BUILD, ROOT

SECOND, SECOND_AUDIT = os.environ["WINDLASS_LIVE_SECOND"], pathlib.Path(os.environ["WINDLASS_LIVE_SECOND_AUDIT"])
NAMESPACE = "bootc-operator"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/clusters.md").read_text(), re.M | re.S)
IMAGE = re.search(r"--image (\S+)", BLOCKS[1])[1]  # the one that the page names
OLD = "registry.example.com/os/node@sha256:" + "a" * 64
NEW = "registry.example.com/os/node@sha256:" + "b" * 64
said = []  # all that any command printed


class Scene:
    def __init__(self, folder):
        self.folder, self.steps = folder, 0
        self.embedded = subprocess.Popen([BUILD / "windlass", "apiserver", "--dir", folder / "servers", "--tls", "--no-workloads"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while not (folder / "servers/kubeconfig").exists():
            if time.monotonic() > end:
                raise RuntimeError("the embedded API server does not start")
            time.sleep(0.1)
        self.members = [played.Member("prod-eu-1", SECOND), played.Member("embedded", str(folder / "servers/kubeconfig"))]
        self.home = deploy.Install(deploy.chart, NAMESPACE, folder / "home")
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(self.combined({"home": rollout.KUBECONFIG, "prod-eu-1": SECOND, "embedded": str(folder / "servers/kubeconfig")})))
        (folder / "bin").mkdir()
        (folder / "bin/windlass").symlink_to(BUILD / "windlass")
        self.play = played.Play()

    @staticmethod
    def combined(files):
        out = {"apiVersion": "v1", "kind": "Config", "current-context": "home", "clusters": [], "users": [], "contexts": []}
        for name, file in files.items():
            one = json.loads(subprocess.run([rollout.KUBECTL[0], "--kubeconfig", file, "config", "view", "--raw", "--flatten", "-o", "json"], capture_output=True, text=True, check=True).stdout)
            out["clusters"].append(one["clusters"][0] | {"name": name})
            out["users"].append(one["users"][0] | {"name": name})
            out["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
        return out

    def shell(self, text, fails=False):
        self.steps += 1
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=180,
                              env=os.environ | {"KUBECONFIG": str(self.kubeconfig), "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder)})
        said.append(done.stdout + done.stderr)
        if (done.returncode != 0) != fails:
            raise RuntimeError(f"{text.strip()}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def windlass(self, text, fails=False):
        return self.shell(f"windlass {text} --context home --namespace {NAMESPACE}", fails)

    def secret(self, name):
        return json.loads(rollout.kubectl("get", "secret", name, "-n", NAMESPACE, "-o", "json"))

    def token(self, name):
        config = json.loads(base64.b64decode(self.secret(name)["data"]["kubeconfig"]))
        return config["users"][0]["user"]["token"]

    def states(self):
        return {c["name"]: c["state"] for c in json.loads(self.windlass("cluster list -o json"))["clusters"]}

    def until(self, true, what, limit=60):
        end = time.monotonic() + limit
        while not true():
            if self.play.problem or time.monotonic() > end:
                raise RuntimeError(f"{what}: not within {limit} s ({self.play.problem}); {self.states()}")
            time.sleep(0.3)


def forbidden(log, prefix, since):
    """How much was answered to the service, and what of it was a refusal. Before it started `cluster add` tried its tokens, until the authorizer knew of them."""
    answers = [e for e in map(json.loads, log.read_text().splitlines()) if e["user"]["username"].startswith(prefix) and e["requestReceivedTimestamp"] >= since]
    return len(answers), [f"{a['verb']} {a['requestURI']}" for a in answers if a.get("responseStatus", {}).get("code") in (401, 403)]


def run(s):
    total = {"clusters": 2, "rolled": 0, "requests": 0, "forbidden": 0, "renewed": 0, "steps": 0}
    s.home.apply()
    look, do, roll, let_go = BLOCKS
    there = s.members[0].kubectl("get", "namespaces", "-o", "name")
    shown = s.shell(look)
    if "would be" not in shown.lower() or "first kubeconfig Secret" not in shown:
        raise RuntimeError(f"the preview says\n{shown}")
    if s.members[0].kubectl("get", "namespaces", "-o", "name") != there:
        raise RuntimeError("the preview wrote")
    s.shell(do)
    s.windlass(f"cluster add embedded --labels env=prod --image {IMAGE} --yes")
    before = s.secret("prod-eu-1")["metadata"]["resourceVersion"]
    again = s.windlass(f"cluster add prod-eu-1 --labels env=prod --image {IMAGE} --yes")
    if "Everything is as it should be." not in again or s.secret("prod-eu-1")["metadata"]["resourceVersion"] != before:
        raise RuntimeError(f"the second time it writes\n{again}")
    if "in the fleet already" not in s.windlass("cluster add prod-eu-1 --name other --yes", fails=True):
        raise RuntimeError("one cluster is twice in the fleet")
    if "nobody" not in s.windlass("cluster add nobody", fails=True):
        raise RuntimeError("a context that is not there is not named")
    for m in s.members:
        m.kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "crd/bootcnodes.node.bootc.dev", "--timeout=30s")
        m.make_node({"pool": "workers"}, f"boot-{m.node}")
        m.make_pool("workers", OLD, {"pool": "workers"})
        s.play.machines.append(played.Machine(m, s.folder / m.name, OLD))
    s.play.thread.start()
    rollout.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{s.home.prefix}-control"}})
    since = datetime.datetime.now(datetime.timezone.utc).isoformat()
    s.home.start_controller()
    began = time.monotonic()
    s.shell(roll)
    booted = {m.name: (m.folder / "booted").read_text().strip() for m in s.play.machines}
    if set(booted.values()) != {NEW}:
        raise RuntimeError(f"the nodes run {booted}")
    total["rolled"] = len(booted)
    print(f"live cluster: {len(booted)} clusters rolled in {time.monotonic() - began:.0f} s")

    # The token is due: as if it had been made 29 days ago.
    for m in s.members:
        old = s.token(m.name)
        now = datetime.datetime.now(datetime.timezone.utc)
        rollout.kubectl("annotate", "--overwrite", "secret", m.name, "-n", NAMESPACE,
                        f"windlass.dev/token-issued={(now - datetime.timedelta(days=29)).strftime('%Y-%m-%dT%H:%M:%SZ')}",
                        f"windlass.dev/token-expires={(now + datetime.timedelta(days=1)).strftime('%Y-%m-%dT%H:%M:%SZ')}")
        s.until(lambda: s.token(m.name) != old, f"the token of {m.name} is renewed")
        total["renewed"] += 1
    s.until(lambda: set(s.states().values()) == {"Live"}, "both are Live with their new tokens")
    s.windlass("cluster check prod-eu-1")
    s.windlass("cluster check embedded")
    s.home.controller.terminate()
    s.home.controller.wait(timeout=10)

    time.sleep(0.5)  # the audit logs' last lines
    for log, prefix in [(deploy.AUDIT, f"system:serviceaccount:{NAMESPACE}:"), (SECOND_AUDIT, f"system:serviceaccount:{NAMESPACE}:")]:
        asked, wrong = forbidden(log, prefix, since)
        total["requests"] += asked
        for line in sorted(set(wrong)):
            print(f"live cluster: FORBIDDEN: {line}")
        total["forbidden"] += len(wrong)

    # A right that somebody took away is named, and comes back.
    role = json.loads(s.members[0].kubectl("get", "clusterrole", "bootc-operator-controller", "-o", "json"))
    role["rules"] = [r for r in role["rules"] if "pods/eviction" not in r.get("resources", [])]
    s.members[0].kubectl("replace", "-f", "-", text=json.dumps(role))
    s.until(lambda: "create pods/eviction" in subprocess.run([BUILD / "windlass", "cluster", "check", "prod-eu-1", "--kubeconfig", s.kubeconfig, "--namespace", NAMESPACE],
                                                             capture_output=True, text=True, timeout=60).stdout, "the missing right is named")
    s.windlass(f"cluster add prod-eu-1 --labels env=prod --image {IMAGE} --yes")
    tokens = [s.token(m.name) for m in s.members]

    if "leads to another cluster" not in s.windlass("cluster remove prod-eu-1 embedded --yes", fails=True):
        raise RuntimeError("another cluster would have been taken for it")
    s.shell(let_go)
    left = s.members[0].kubectl("get", "clusterroles,daemonsets,validatingadmissionpolicies,rolebindings", "-A", "-o", "name")
    if "bootc-operator" in left:
        raise RuntimeError(f"left behind:\n{left}")
    if "bootcnodepools.node.bootc.dev" not in s.members[0].kubectl("get", "crds", "-o", "name"):
        raise RuntimeError("the kinds went")
    if set(s.states()) - {"home"} != {"embedded"}:  # home is listed where an API of its own runs: its Releases are served by now
        raise RuntimeError(f"the fleet is {s.states()}")
    for token in tokens:
        if any(token in text or token[-40:] in text for text in said):
            raise RuntimeError("a token was printed")
    total["steps"] = s.steps
    return total


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-"))
    deploy.remove_kinds()
    scene, total, problem = None, {}, None
    try:
        scene = Scene(folder)
        total = run(scene)
    except Exception as why:  # noqa: BLE001
        problem = why
    finally:
        if scene:
            scene.play.end()
            scene.home.stop()
            if problem:
                print("live cluster: FAILED:", problem, flush=True)  # what is put away below may fail as well
                scene.home.log_tail()
                for log in sorted(folder.glob("*.log")):
                    print(f"--- {log.name}\n" + "".join(log.read_text().splitlines(keepends=True)[-15:]))
            scene.home.remove()
            scene.members[0].forget()
            scene.embedded.kill()
            scene.embedded.wait()
        shutil.rmtree(folder, ignore_errors=True)
    print("##", json.dumps(total))
    return 1 if problem or total["forbidden"] else 0


if __name__ == "__main__":
    sys.exit(main())
