#!/usr/bin/env python3
"""The daemons' upgrade in waves, on a kube-apiserver with Kubernetes' own controller of DaemonSets: what deploy/chart ships, the service under its
own ServiceAccount. Plays the scheduler and the kubelets.

    KUBEBUILDER_ASSETS=D tests/live/daemon_waves.py BUILD_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import own_server
from waits import check, until

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
NODES, NS = 12, "bootc-operator"
IMAGE = "registry.live.local/os/node@sha256:" + "a" * 64


class World:
    def __init__(self, folder):
        self.server, self.most_away, self.counting, self.processes = own_server.Server(folder), 0, False, []
        self.server.start("--allow-privileged=true")
        self.run("controllers", own_server.ASSETS / "kube-controller-manager", "--kubeconfig", self.server.kubeconfig, "--controllers=daemonset", "--leader-elect=false",
                 "--secure-port=0")

    def run(self, name, *command):
        with open(self.server.folder / f"{name}.log", "a") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log))

    def get(self, *what):
        return json.loads(self.server.kubectl("get", *what, "-o", "json").stdout)

    def chart(self, verb, tag):
        done = subprocess.run([BUILD / "windlass", "helm", verb, "windlass", ROOT / "deploy/chart", "--kubeconfig", self.server.kubeconfig, "-n", NS, "--set",
                               f"image.registry=registry.example.com,image.tag={tag}", *(["--create-namespace"] if verb == "install" else [])],
                              capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, f"helm {verb}: {done.stderr}")

    def pods(self):
        return self.get("pods", "-n", f"{NS}-daemon")["items"]

    def play(self):
        """One step of the scheduler and of the kubelets; the pods as they were before."""
        pods, away = self.pods(), NODES
        for pod in pods:
            name, wanted = pod["metadata"]["name"], ["-n", f"{NS}-daemon"]
            if "deletionTimestamp" in pod["metadata"]:
                self.server.kubectl("delete", "pod", name, *wanted, "--grace-period=0", "--force", ok=False)
            elif not pod["spec"].get("nodeName"):
                terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
                node = terms[0]["matchFields"][0]["values"][0]
                binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
                self.server.kubectl("create", "--raw", f"/api/v1/namespaces/{NS}-daemon/pods/{name}/binding", "-f", "-", text=json.dumps(binding))
            elif not any(c["type"] == "Ready" and c["status"] == "True" for c in pod.get("status", {}).get("conditions", [])):
                ready = {"type": "Ready", "status": "True", "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
                self.server.kubectl("patch", "pod", name, *wanted, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"phase": "Running", "conditions": [ready]}}))
            else:
                away -= 1
        if self.counting:
            self.most_away = max(self.most_away, away)
        return pods

    def until_all_run(self, tag, limit):
        def all_run():
            pods = self.play()
            return len(pods) == NODES and all(p["spec"]["containers"][0]["image"].endswith(tag) and p["status"].get("phase") == "Running" for p in pods)
        began = time.monotonic()
        until(all_run, f"every daemon runs {tag}", limit)
        print(f"daemon waves: {NODES} daemons run {tag} after {time.monotonic() - began:.0f} s", flush=True)

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.server.stop()


def main():
    if not own_server.is_there():
        return 77
    if not (own_server.ASSETS / "kube-controller-manager").exists():
        print(f"live: SKIPPED: no kube-controller-manager in {own_server.ASSETS}")
        return 77
    with tempfile.TemporaryDirectory() as there:
        world = World(pathlib.Path(there))
        try:
            world.chart("install", "one")
            world.server.kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "--timeout=20s")
            for i in range(NODES):
                world.server.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i}", "labels": {"pool": "w"}}})
                ready = {"type": "Ready", "status": "True", "reason": "Played", "message": "", "lastHeartbeatTime": None, "lastTransitionTime": None}
                world.server.kubectl("patch", "node", f"node-{i}", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"conditions": [ready]}}))
            world.server.apply({"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "w"},
                                "spec": {"nodeSelector": {"matchLabels": {"pool": "w"}}, "image": {"ref": IMAGE}}})
            config = json.loads(world.server.kubeconfig.read_text())
            config["users"][0]["user"]["token"] = world.server.kubectl("create", "token", f"{NS}-controller-manager", "-n", NS).stdout.strip()
            ours = world.server.folder / "service.kubeconfig"
            ours.write_text(json.dumps(config))
            world.run("service", BUILD / "windlass", "run", "--kubeconfig", ours, "--namespace", NS, "--metrics-bind-address", "0", "--health-probe-bind-address", "0")
            world.until_all_run("one", 120)
            world.counting = True
            world.chart("upgrade", "two")
            world.until_all_run("two", 900)
            check(0 < world.most_away <= 2, f"{world.most_away} of {NODES} daemons were away at once")
            said = (world.server.folder / "service.log").read_text()
            check("orbidden" not in said, f"the service was refused something: {said[-2000:]}")
            print(f"## daemon waves: at most {world.most_away} of {NODES} away")
        finally:
            world.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
