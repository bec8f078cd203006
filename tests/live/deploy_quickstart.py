#!/usr/bin/env python3
"""Runs docs/quickstart.md: its `sh` blocks, one after the other in one shell, on a real API server, with three nodes and whoever makes and runs
pods played beside. Before the pool is taken away, `windlass check upgrade --to 1.25` looks at that fleet with what 1.25 would break on it, known by records of
releases; and at an embedded server that says it is v1.24, which still serves the PodSecurityPolicy itself.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_AUDIT=LOG KUBEBUILDER_ASSETS=D tests/live/deploy_quickstart.py BUILD_FOLDER
    tests/live/deploy_quickstart.py BUILD_FOLDER --embedded
        on an embedded API server; needs kubectl
"""
import atexit
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
from waits import until

EMBEDDED = "--embedded" in sys.argv


def serve(folder, *more):
    """An embedded API server until this process ends; its kubeconfig."""
    server = subprocess.Popen([pathlib.Path(sys.argv[1]) / "windlass", "apiserver", "--dir", folder, "--no-workloads", *more], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    atexit.register(lambda: (server.kill(), server.wait(), shutil.rmtree(folder, ignore_errors=True)))
    until((pathlib.Path(folder) / "kubeconfig").exists, "an embedded API server")
    return f"{folder}/kubeconfig"


def find_kubectl():
    found = pathlib.Path(os.environ.get("KUBEBUILDER_ASSETS", pathlib.Path.home() / ".cache/windlass/envtest")) / "kubectl"
    found = found if found.exists() else shutil.which("kubectl")
    if not found:
        print("quickstart: SKIPPED: no kubectl (KUBEBUILDER_ASSETS)")
        sys.exit(77)
    return pathlib.Path(found)


if EMBEDDED:  # the modules below find it in the environment
    os.environ["KUBEBUILDER_ASSETS"] = str(find_kubectl().parent)
    os.environ["WINDLASS_LIVE_KUBECONFIG"] = serve(tempfile.mkdtemp(prefix="windlass-quickstart-"), "--tls", "--authorization", "rbac")
    os.environ["WINDLASS_LIVE_AUDIT"] = "/none"
import deploy
import old_objects
import rollout
from rollout import BUILD, ROOT, apply, get, kubectl, report_node

OLD = [old_objects.release("web", old_objects.PDB), old_objects.release("kinds", old_objects.CRD)]
RECORDED, SERVED = old_objects.release("policies", old_objects.PSP), {
    "apiVersion": "policy/v1beta1", "kind": "PodSecurityPolicy", "metadata": {"name": "strict"}, "spec": {"privileged": False}}
CHECK = """check() {
  kubectl create namespace shop
  kubectl create -f "$HOME/$1.json"
  windlass check upgrade --to 1.25 > "$HOME/$1" && exit 3 || test $? = 1
  cat "$HOME/$1"
  kubectl delete -f "$HOME/$1.json"
}
check recorded
KUBECONFIG=$HOME/older/kubeconfig check served
"""
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
    serve(folder / "older", "--kubernetes", "v1.24.17")
    for name, policy in (("recorded", RECORDED), ("served", SERVED)):
        (folder / f"{name}.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [policy, *OLD]}))
    # The last block takes the fleet away.
    steps = "".join(f"echo '+ step {i}'\n{block}" for i, block in enumerate([*BLOCKS[:-1], CHECK, BLOCKS[-1]], 1))
    began, failed = time.monotonic(), 1
    cluster.thread.start()
    try:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", steps], cwd=ROOT, capture_output=True, text=True, timeout=900,
                              env=os.environ | {"KUBECONFIG": rollout.KUBECONFIG, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)})
        failed = done.returncode or (1 if cluster.problem or rollout.problems else 0)
        print(done.stdout)
        if failed:
            print(done.stderr, cluster.problem, *rollout.problems)
        for name, owner in (("recorded", "Helm release shop/policies"), ("served", "field manager kubectl-create")):
            if not failed and (missing := old_objects.missing_in((folder / name).read_text(), owner)):
                failed = 1
                print(f"quickstart: no line of `check upgrade` has {missing}")
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
