#!/usr/bin/env python3
"""Rolls two images over a real API server with the real commands: `windlass run`, one `windlass-node` per node with the
stand-in for the host's bootc, windlass killed in the middle. Plays the kubelet, which no bare API server has.

    WINDLASS_LIVE_KUBECONFIG=F KUBEBUILDER_ASSETS=D tests/live/rollout.py BUILD_FOLDER
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
KUBECONFIG = os.environ["WINDLASS_LIVE_KUBECONFIG"]
KUBECTL = [str(pathlib.Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl"), "--kubeconfig", KUBECONFIG]
NODES = [f"live-{i}" for i in range(1, 5)]
MAX_UNAVAILABLE = 2
IMAGES = [f"registry.live.local/os/node@sha256:{c * 64}" for c in "abc"]


def kubectl(*arguments, text=None, kubeconfig=KUBECONFIG):
    done = subprocess.run([KUBECTL[0], "--kubeconfig", kubeconfig, *arguments], input=text, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def get(kind, *more):
    return json.loads(kubectl("get", kind, *more, "-o", "json"))["items"]


def apply(*objects):
    kubectl("apply", "--server-side", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


def forget_namespace(name):
    """Deletes a namespace and plays the controller that takes its finalizer away."""
    if subprocess.run([*KUBECTL, "get", "namespace", name], capture_output=True, timeout=60).returncode:
        return
    kubectl("delete", "namespace", name, "--wait=false")
    left = kubectl("get", "namespace", name, "-o", "json", "--ignore-not-found")
    if not left:
        return  # an embedded server has the controller
    left = json.loads(left)
    kubectl("replace", "--raw", f"/api/v1/namespaces/{name}/finalize", "-f", "-", text=json.dumps(left | {"spec": {"finalizers": []}}))


def report_node(name, ready, boot_id, kubectl=kubectl):
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False", "reason": "Live", "message": "",
                              "lastHeartbeatTime": None, "lastTransitionTime": None}],
              "nodeInfo": dict.fromkeys(["machineID", "systemUUID", "kernelVersion", "osImage", "containerRuntimeVersion",
                                         "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"], "") | {"bootID": boot_id}}
    kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))


class Machine:
    """A node's host and the daemon on it."""

    off_for = 1  # seconds without power

    def __init__(self, name, folder, kubeconfig=KUBECONFIG, booted=IMAGES[0]):
        self.name, self.folder, self.kubeconfig = name, folder, kubeconfig
        folder.mkdir(parents=True)
        (folder / "booted").write_text(booted)
        (folder / "stage_seconds").write_text("0.5")
        if sum(name.encode()) % 2:  # a bootc that says how far its stage is
            (folder / "progress").write_text('{"type":"ProgressBytes","task":"pulling","bytes":1,"bytesTotal":2}\n')
        # What a daemon that enters the host finds there.
        (folder / "proc/1").mkdir(parents=True)
        (folder / "proc/1/environ").write_text(f"FAKE_HOST={folder}\0PATH={BUILD / 'fake_host_bin'}:{os.environ['PATH']}\0container=lxc\0")
        self.environment = os.environ | {"FAKE_HOST": str(folder), "PATH": f"{BUILD / 'fake_host_bin'}:{os.environ['PATH']}", "NODE_NAME": name}
        self.log = open(folder.parent / f"{name}.log", "w")
        self.asked = self.boots = 0
        self.down_until = 0
        self.daemon = None
        self.start()

    def start(self):
        self.daemon = subprocess.Popen([BUILD / "windlass-node", "--kubeconfig", self.kubeconfig, "--host", "direct", "--host-root", self.folder,
                                        "--bootc-poll-interval", "5"], env=self.environment, stdout=self.log, stderr=self.log)

    def kill(self):
        if self.daemon:
            self.daemon.kill()
            self.daemon.wait()
            self.daemon = None

    def tick(self):
        if self.daemon is None:
            if time.monotonic() >= self.down_until:
                subprocess.run(["power_on"], env=self.environment, check=True)
                self.boots += 1
                self.report(True, (self.folder / "boot_id").read_text().strip())
                self.start()
            return
        if self.reboots_asked() > self.asked:
            self.loses_power()
            self.goes_down()
            self.report(False, "")
            self.down_until = time.monotonic() + self.off_for

    def reboots_asked(self):
        reboots = self.folder / "reboots"
        return len(reboots.read_text().splitlines()) if reboots.exists() else 0

    def loses_power(self):
        """Nothing on the host runs on, also what outlives the daemon; a daemon that was killed once it had asked and asked again gets one boot for both."""
        self.kill()
        mine = f"FAKE_HOST={self.folder}".encode()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mine in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)
            except (OSError, ValueError):
                continue  # it has ended, or is somebody else's
        self.asked = self.reboots_asked()

    def report(self, ready, boot_id):
        report_node(self.name, ready, boot_id)

    def goes_down(self):
        check_reboot(self.name)


problems = []


def check_reboot(name):
    node = json.loads(kubectl("get", "node", name, "-o", "json"))
    ours = json.loads(kubectl("get", "bootcnode", name, "-o", "json"))
    if "bootc.dev/in-reboot-slot" not in ours["metadata"].get("annotations", {}):
        problems.append(f"{name} reboots outside a slot")
    if not node["spec"].get("unschedulable"):
        problems.append(f"{name} reboots without being cordoned")
    left = [p["metadata"]["name"] for p in get("pods", "-A", "--field-selector", f"spec.nodeName={name}")
            if not any(o["kind"] == "DaemonSet" for o in p["metadata"].get("ownerReferences", []))]
    if left:
        problems.append(f"{name} reboots with {left} on it")


def end_terminating_pods():
    for pod in get("pods", "-A"):
        if "deletionTimestamp" in pod["metadata"]:
            kubectl("delete", "pod", pod["metadata"]["name"], "-n", pod["metadata"]["namespace"], "--grace-period=0", "--force", "--wait=false", "--ignore-not-found")


def slots():
    return sorted(n["metadata"]["name"] for n in get("bootcnodes") if "bootc.dev/in-reboot-slot" in n["metadata"].get("annotations", {}))


def start_windlass(folder):
    return subprocess.Popen([BUILD / "windlass", "run", "--kubeconfig", KUBECONFIG, "--metrics-bind-address", "0", "--health-probe-bind-address", "0"],
                            stdout=open(folder / "run.log", "a"), stderr=subprocess.STDOUT)


def condition(pool, kind):
    for c in pool.get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return c["status"], c["reason"], c["message"]
    return None, None, None


def wait_until_updated(machines, image, meanwhile, limit=150):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        for machine in machines:
            machine.tick()
        end_terminating_pods()
        taken = slots()
        if len(taken) > MAX_UNAVAILABLE:
            problems.append(f"{len(taken)} slots taken: {taken}")
        meanwhile(taken)
        pool = json.loads(kubectl("get", "bootcnodepool", "live", "-o", "json"))
        if pool.get("status", {}).get("targetDigest") == image.split("@")[1] and condition(pool, "UpToDate")[1] == "AllUpdated" and not taken:
            return
        time.sleep(0.2)
    raise RuntimeError(f"not updated to {image[-8:]} within {limit} s: {condition(pool, 'UpToDate')} {condition(pool, 'Degraded')}")


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-"))
    machines, windlass = [], None
    try:
        kubectl("apply", "--server-side", "-f", str(ROOT / "deploy/crds"))
        kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "crd/bootcnodes.node.bootc.dev", "--timeout=20s")
        for name in NODES:
            apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"live-rollout": "yes"}}})
            report_node(name, True, f"boot-{name}")
            for i in range(2):
                apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{i}", "namespace": "default"},
                       "spec": {"nodeName": name, "automountServiceAccountToken": False, "containers": [{"name": "main", "image": "live/app:1"}]}})
        windlass = start_windlass(folder)
        pool = {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "live"},
                "spec": {"nodeSelector": {"matchLabels": {"live-rollout": "yes"}}, "image": {"ref": IMAGES[0]}, "rollout": {"maxUnavailable": MAX_UNAVAILABLE}}}
        apply(pool)
        machines = [Machine(name, folder / name) for name in NODES]
        wait_until_updated(machines, IMAGES[0], lambda taken: None)
        print("live rollout: known and in order")
        killed = False
        for image in IMAGES[1:]:
            pool["spec"]["image"]["ref"] = image
            apply(pool)

            def kill_once(taken):
                nonlocal killed, windlass
                if taken and not killed:
                    killed = True
                    windlass.send_signal(signal.SIGKILL)
                    windlass.wait()
                    windlass = start_windlass(folder)

            began = time.monotonic()
            wait_until_updated(machines, image, kill_once)
            print(f"live rollout: every node on {image[-8:]} after {time.monotonic() - began:.1f} s")
        for node in get("nodes", "-l", "live-rollout=yes"):
            if node["spec"].get("unschedulable"):
                problems.append(f"{node['metadata']['name']} was left cordoned")
        for machine in machines:
            if (machine.folder / "booted").read_text().strip() != IMAGES[-1]:
                problems.append(f"{machine.name} runs {(machine.folder / 'booted').read_text().strip()}")
            if machine.boots != 2:
                problems.append(f"{machine.name} rebooted {machine.boots} times for two images")
        if not killed:
            problems.append("windlass was never killed in the middle")
        windlass.terminate()
        if windlass.wait(timeout=5) != 0:
            problems.append(f"windlass run ended with {windlass.returncode} after SIGTERM")
        windlass = None
        kubectl("delete", "bootcnodepool", "live", "--wait=false")
    except Exception as problem:  # noqa: BLE001  what a person needs is the logs
        problems.append(str(problem))
    finally:
        for machine in machines:
            machine.kill()
        if windlass:
            windlass.kill()
            windlass.wait()
        if problems:
            for log in sorted(folder.glob("*.log")):
                print(f"--- {log.name}\n" + "".join(log.read_text().splitlines(keepends=True)[-15:]))
        shutil.rmtree(folder, ignore_errors=True)
    for problem in problems:
        print("live rollout: FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
