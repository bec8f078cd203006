#!/usr/bin/env python3
"""Runs docs/quickstart.md: its `sh` blocks, one after the other in one shell, on a real API server, with three nodes and whoever makes and runs
pods played beside.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_AUDIT=LOG KUBEBUILDER_ASSETS=D tests/live/deploy_quickstart.py BUILD_FOLDER
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import deploy
import rollout
from rollout import BUILD, ROOT, apply, get, kubectl, report_node

NODES = ["worker-1", "worker-2", "worker-3"]
TEXT = (ROOT / "docs/quickstart.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.M | re.S)
# The nodes have booted what the text says they have.
rollout.IMAGES[0] = f"{re.search(r'^image=(.*)$', TEXT, re.M)[1]}@{re.search(r'^booted=(.*)$', TEXT, re.M)[1]}"
NAMESPACE = "bootc-operator"


class Cluster(deploy.Install):
    """What runs pods and says so."""

    def __init__(self, folder):
        self.how, self.namespace, self.folder, self.prefix = "quickstart", NAMESPACE, folder, "workers"
        self.daemon_namespace = f"{NAMESPACE}-daemon"
        self.nodes, self.machines, self.controller, self.problem = NODES, [], None, None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.play)

    def play(self):
        try:
            while not self.stopping.is_set():
                self.turn()
                time.sleep(0.2)
        except Exception as why:  # noqa: BLE001
            self.problem = why

    def turn(self):
        deployments, daemons = get("deployments", "-n", NAMESPACE), get("daemonsets", "-n", f"{NAMESPACE}-daemon")
        if not deployments or not daemons:  # not yet, or no longer
            self.stop()
            return
        [self.deployment], [self.daemons] = deployments, daemons
        if self.controller is None:
            self.start_controller()
        elif self.controller.poll() is not None:
            raise RuntimeError(f"the controller ended with {self.controller.returncode}")
        elif not self.deployment.get("status", {}).get("availableReplicas") and self.is_ready():
            kubectl("patch", "deployment", self.deployment["metadata"]["name"], "-n", NAMESPACE, "--subresource=status", "--type=merge", "-p",
                    json.dumps({"status": {"observedGeneration": self.deployment["metadata"]["generation"]} | dict.fromkeys(
                        ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"], self.deployment["spec"]["replicas"])}))
        self.place_daemons()
        for machine in self.machines:
            machine.tick()
        rollout.end_terminating_pods()

    def is_ready(self):
        try:
            self.probes_answer([(self.deployment, self.controller_pod)])
            return True
        except (OSError, RuntimeError):  # the kubelet asks again
            return False


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-"))
    deploy.remove_kinds()
    cluster = Cluster(folder)
    apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "workers-control"}})
    for name in NODES:
        apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        report_node(name, True, f"boot-{name}")
    (folder / "bin").mkdir()
    (folder / "bin/windlass").symlink_to(BUILD / "windlass")
    (folder / "bin/kubectl").symlink_to(rollout.KUBECTL[0])
    steps = "".join(f"echo '+ step {i}'\n{block}" for i, block in enumerate(BLOCKS, 1))
    began, failed = time.monotonic(), 1
    cluster.thread.start()
    try:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", steps], cwd=ROOT, capture_output=True, text=True, timeout=900,
                              env=os.environ | {"KUBECONFIG": rollout.KUBECONFIG, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)})
        failed = done.returncode or (1 if cluster.problem or rollout.problems else 0)
        print(done.stdout)
        if failed:
            print(done.stderr, cluster.problem, *rollout.problems)
        booted = failed or {(folder / n / "booted").read_text().strip().split(":")[-1][:4] for n in NODES}
        if not failed and booted != {"bbbb"}:
            failed = 1
            print("quickstart: the nodes run", booted)
    finally:
        cluster.stopping.set()
        cluster.thread.join()
        cluster.stop()
        if failed:
            cluster.log_tail()
        cluster.remove()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"## quickstart: {len(BLOCKS)} steps of docs/quickstart.md in {time.monotonic() - began:.0f} s" + (": FAILED" if failed else ""))
    return failed


if __name__ == "__main__":
    sys.exit(main())
