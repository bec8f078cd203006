#!/usr/bin/env python3
"""One FleetPool at home for two real API servers: home is a member too, the other is its second. It is planned before it is applied, what
the plan said is what happens, wave by wave; `windlass run` is killed at moments of the rollout and the next one goes on; a manager that takes a field is not
fought over; what a server refuses at admission has its field; `undo` brings the former image back; a settled fleet is not written to; and
a FleetPool that is deleted lets its pools go.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_SECOND=F KUBEBUILDER_ASSETS=D tests/live/fleetwide.py BUILD_FOLDER

Ends with one JSON line: {"clusters", "kills", "revisions", "writes"}.
"""
import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import played
import rollout
from rollout import BUILD, ROOT
from waits import check, until

NAMESPACE = "default"
OS = "registry.example.com/os/node@sha256:"
FIRST, SECOND, THIRD = (OS + c * 64 for c in "abc")
MARK = "windlass.dev/fleet-object"


class Scene:
    def __init__(self, folder):
        self.folder = folder
        self.members = [played.Member("eu", rollout.KUBECONFIG), played.Member("us", os.environ["WINDLASS_LIVE_SECOND"])]
        self.home, self.play, self.service = self.members[0], played.Play(), None

    def windlass(self, *arguments, code=0):
        done = subprocess.run([BUILD / "windlass", *arguments, "--kubeconfig", self.home.kubeconfig, "--namespace", NAMESPACE, "--fleet", "secrets"],
                              capture_output=True, text=True, timeout=120)
        check(done.returncode == code, f"windlass {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def join(self, member, ring):
        config = subprocess.run([rollout.KUBECTL[0], "--kubeconfig", member.kubeconfig, "config", "view", "--raw", "--flatten"], capture_output=True, text=True, check=True).stdout
        self.home.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": member.name, "namespace": NAMESPACE, "labels": {
            "sigs.k8s.io/multicluster-runtime-kubeconfig": "true", "ring": ring}}, "data": {"kubeconfig": base64.b64encode(config.encode()).decode()}})

    def start(self):
        self.service = subprocess.Popen([BUILD / "windlass", "run", "--kubeconfig", self.home.kubeconfig, "--namespace", NAMESPACE, "--fleet", "secrets", "--apis", "bootc,fleetpools",
                                         "--metrics-bind-address", "0", "--health-probe-bind-address", "0"], stdout=open(self.folder / "run.log", "a"), stderr=subprocess.STDOUT)

    def stop(self, how=signal.SIGTERM):
        self.service.send_signal(how)
        code = self.service.wait(15)
        check(how == signal.SIGKILL or code == 0, f"windlass run ended with {code} after SIGTERM")
        self.service = None

    def fleet_pool(self, ref, **more):
        spec = {"clusters": {"selector": {}}, "template": {"spec": {"nodeSelector": {"matchLabels": {"fleet": "workers"}}, "rollout": {"maxUnavailable": 1}}},
                "image": {"ref": ref}, "rollout": {"waves": {"label": "ring", "values": ["canary"]}, "maxClusters": 2, "soak": "2s"}}
        return {"apiVersion": "fleet.windlass.dev/v1alpha1", "kind": "FleetPool", "metadata": {"name": "workers", "namespace": NAMESPACE}, "spec": spec | more}

    def status(self):
        return json.loads(self.home.kubectl("get", "fleetpool", "workers", "-n", NAMESPACE, "-o", "json")).get("status", {})

    def condition(self, kind):
        return next((f"{c['status']} {c['reason']} {c['message']}" for c in self.status().get("conditions", []) if c["type"] == kind), "none")

    def ref(self, member):
        pools = json.loads(member.kubectl("get", "bootcnodepools", "-o", "json"))["items"]
        return next((p["spec"]["image"]["ref"] for p in pools if p["metadata"]["name"] == "workers"), None)

    def until(self, true, what, limit=90):
        def asked():
            check(not self.play.problem, self.play.problem)
            return true()
        try:
            return until(asked, what, limit)
        except RuntimeError as why:
            raise RuntimeError(f"{why}\n{json.dumps(self.status(), indent=1)}") from None


def run(s, total):
    eu, us = s.members
    for m in s.members:
        for crd in ("bootcnodepools", "bootcnodes", "bootcoperatorconfigs"):
            m.apply((ROOT / f"deploy/crds/{crd}.yaml").read_text())
        m.kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "crd/bootcnodes.node.bootc.dev", "--timeout=30s")
        m.make_node({"fleet": "workers"}, f"boot-{m.name}")
        s.play.machines.append(played.Machine(m, s.folder / m.name, FIRST))
    for crd in ("fleetpools", "fleetgrants"):
        s.home.apply((ROOT / f"deploy/crds/fleet/{crd}.yaml").read_text())
    s.home.kubectl("wait", "--for=condition=Established", "crd/fleetpools.fleet.windlass.dev", "crd/fleetgrants.fleet.windlass.dev", "--timeout=30s")
    s.join(eu, "canary")
    s.join(us, "main")
    s.play.thread.start()

    # Before it is applied.
    file = s.folder / "workers.yaml"
    file.write_text(json.dumps(s.fleet_pool(FIRST)))
    said = json.loads(s.windlass("pool", "plan", "-f", file, "-o", "json"))["fleetPools"][0]["clusters"]
    check([(c["cluster"], c.get("next"), (c["hold"] or {}).get("code")) for c in said] == [("eu", "revision 1", None), ("us", None, "earlier-wave")], str(said))
    check(s.ref(eu) is None, "a plan wrote")
    refused = subprocess.run([*rollout.KUBECTL, "--kubeconfig", s.home.kubeconfig, "apply", "-f", "-"], text=True, capture_output=True,
                             input=json.dumps(s.fleet_pool(FIRST, rollout={"maxClusters": "200%"})))
    check(refused.returncode != 0 and "spec.rollout.maxClusters" in refused.stderr, refused.stderr)

    s.home.apply(s.fleet_pool(FIRST))
    s.start()
    s.until(lambda: s.condition("Ready").startswith("True AllReady"), "both have revision 1")
    check(s.ref(eu) == s.ref(us) == FIRST, f"{s.ref(eu)} {s.ref(us)}")
    s.home.kubectl("wait", "--for=condition=Ready", "fleetpool/workers", "-n", NAMESPACE, "--timeout=10s")
    total["clusters"] = 2

    # A change, with the process killed again and again.
    s.home.kubectl("patch", "fleetpool", "workers", "-n", NAMESPACE, "--type=merge", "-p", json.dumps({"spec": {"image": {"ref": SECOND}}}))
    order = []

    def moved():
        for m in s.members:
            if s.ref(m) == SECOND and m.name not in order:
                order.append(m.name)
                if m is us:
                    check(rollout.condition(eu.pool("workers"), "UpToDate")[0] == "True", "the second wave began before the first was ready")
        return s.condition("Ready").startswith("True AllReady 2 of 2 clusters have revision 2")
    end = time.monotonic() + 180
    while not moved():
        check(time.monotonic() < end and not s.play.problem, f"the rollout did not end: {s.condition('Ready')} {s.play.problem}")
        time.sleep(0.7 + 0.3 * (total["kills"] % 7))
        if total["kills"] < 12:
            s.stop(signal.SIGKILL)
            total["kills"] += 1
            s.start()
    check(order == ["eu", "us"], f"they moved in the order {order}")
    check([r["outcome"] for r in s.status()["history"]] == ["Complete", "Complete"], str(s.status()["history"]))

    # Another manager has a field: it is named, and the other cluster goes on.
    rollout.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=flux", "-f", "-", kubeconfig=us.kubeconfig, text=json.dumps(
        {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "workers"}, "spec": {"image": {"ref": FIRST}}}))
    s.home.kubectl("patch", "fleetpool", "workers", "-n", NAMESPACE, "--type=merge", "-p", json.dumps({"spec": {"image": {"ref": THIRD}}}))
    s.until(lambda: s.ref(eu) == THIRD and "managed-by-other: us" in s.condition("Degraded"), "us belongs to flux, and eu goes on")
    check(s.ref(us) == FIRST, "a field of flux was fought over")
    s.windlass("pool", "approve", "workers", "--adopt", "--cluster", "us", "--yes")
    s.until(lambda: s.condition("Ready").startswith("True AllReady"), "us was adopted")
    check(s.ref(us) == THIRD, s.ref(us))

    # Back.
    s.windlass("pool", "undo", "workers", "--yes")
    s.until(lambda: s.condition("Ready").startswith("True AllReady 2 of 2 clusters have revision 4"), "the former image is back")
    check(s.ref(eu) == s.ref(us) == SECOND, f"{s.ref(eu)} {s.ref(us)}")
    total["revisions"] = len(s.status()["history"])
    check("Complete" in s.windlass("pool", "history", "workers"), "the history is empty")

    # At rest.
    s.stop()
    s.start()
    time.sleep(8)

    def versions():
        return {(m.name, kind, o["metadata"]["name"]): o["metadata"]["resourceVersion"] for m in s.members for kind in ("bootcnodepools", "fleetpools", "controllerrevisions")
                if m is s.home or kind == "bootcnodepools" for o in json.loads(m.kubectl("get", kind, "-A", "-o", "json"))["items"]}
    before = versions()
    time.sleep(8)
    s.stop()
    s.start()
    time.sleep(8)
    total["writes"] = len(set(versions().items()) - set(before.items()))
    check(total["writes"] == 0, f"a settled fleet was written to: {set(versions().items()) - set(before.items())}")

    # It goes, and the pools are nobody's.
    s.home.kubectl("delete", "fleetpool", "workers", "-n", NAMESPACE, "--timeout=60s")
    for m in s.members:
        check(MARK not in m.pool("workers")["metadata"].get("annotations", {}), f"{m.name} still has a mark")


def main():
    total = {"clusters": 0, "kills": 0, "revisions": 0, "writes": 0}
    with tempfile.TemporaryDirectory(prefix="windlass-fleetwide-") as folder:
        s = Scene(pathlib.Path(folder))
        try:
            run(s, total)
        except Exception:
            print((s.folder / "run.log").read_text()[-6000:] if (s.folder / "run.log").exists() else "", file=sys.stderr)
            raise
        finally:
            if s.service:
                s.service.kill()
                s.service.wait()
            s.play.end()
            for m in s.members:
                m.forget()
            s.home.kubectl("delete", "secret", "eu", "us", "-n", NAMESPACE, "--ignore-not-found")
            if "fleetpools" in s.home.kubectl("api-resources", "--api-group=fleet.windlass.dev", "-o", "name"):
                for one in s.home.kubectl("get", "fleetpools", "-A", "-o", "name").split():
                    s.home.kubectl("patch", one, "-n", NAMESPACE, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
                s.home.kubectl("delete", "fleetpools", "--all", "-A", "--timeout=30s")
    print(json.dumps(total))


if __name__ == "__main__":
    main()
