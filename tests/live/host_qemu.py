#!/usr/bin/env python3
"""The shipped daemon on a real bootc host, in a virtual machine: a prepared disk (docs/internals/fakes.md says what it holds) boots under QEMU.
The daemon runs in a container of the package's root file system with the limits of its DaemonSet; the service and the embedded API
server are outside. A pool of one node goes to another image and back, waits with a locked one over a reboot by hand, reboots softly, leaves alone
what an administrator staged, and is taken to an image that does not boot.

    WINDLASS_HOST_DISK=F [WINDLASS_HOST_KEY=F] [WINDLASS_HOST_REGISTRY=D] [WINDLASS_HOST_ACCELERATOR=kvm] tests/live/host_qemu.py BUILD_FOLDER [rollouts|by-hand|unbootable…]     as root

What it plays is the boot loader (with boot counting), the kubelet and the network. It prints what happens with times, and ends with one JSON line:
{"bootc", "boots", "steps", "seconds"}.
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import host
import image_registry
from host import BUILD, check, run, skip

NODE, POOL = "machine", "machines"
IN_IMAGE = pathlib.Path("/run/windlass-image")
BEGAN = time.monotonic()
# As the DaemonSet has them; the node's root is the container's through the host's process 1 alone.
LIMITS = "--privileged --pid=host --network=host --read-only --memory=128m --memory-swap=128m --cpus=0.5"


def say(text):
    print(f"{time.monotonic() - BEGAN:6.0f} s  {text}", flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Loader:
    """Firmware and boot loader with boot counting: the newest entry below /boot/loader boots, but for those that did not come up twice, which stay
    where they are and come last. (A machine without KVM may also die once of itself.)"""
    TRIES = 2

    def __init__(self, disk, folder):
        self.disk, self.folder, self.chosen = disk, folder, None
        self.tried = collections.Counter()

    def choose(self):
        """The kernel, its initrd and its command line."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "mnt").mkdir(parents=True)
        self.mounted('cp -r "$2/mnt/boot/loader/entries" "$2/entries"')
        entries = []
        for file in (self.folder / "entries").glob("*.conf"):
            entry = dict(line.split(None, 1) for line in file.read_text().splitlines() if " " in line)
            # Links by numbers, which change hands, lead to it.
            entry["deployment"] = self.mounted('realpath "$2/mnt/$3"', re.search(r"ostree=(\S+)", entry["options"])[1]).strip().rsplit("/", 1)[1]
            entries.append(entry)
        entries.sort(key=lambda e: (self.tried[e["deployment"]] < self.TRIES, int(e["version"])))
        self.chosen = entries[-1]
        self.mounted('cp "$2/mnt/boot/$3" "$2/linux"; cp "$2/mnt/boot/$4" "$2/initrd"', *(self.chosen[k].removeprefix("/boot") for k in ("linux", "initrd")))
        return self.folder / "linux", self.folder / "initrd", self.chosen["options"]

    def mounted(self, script, *words):
        return run("unshare", "--mount", "--propagation", "private", "sh", "-ec", 'mount -o loop "$1" "$2/mnt"; ' + script, "sh", self.disk, self.folder, *words, timeout=120)

    def came_up(self, yes):
        name = self.chosen["deployment"]
        self.tried[name] = 0 if yes else self.tried[name] + 1
        check(self.tried[name] <= self.TRIES, f"no deployment comes up: {dict(self.tried)}")

    def gave_up(self):
        return [d for d, tries in self.tried.items() if tries >= self.TRIES]


class Machine:
    """The virtual machine, and on it what the kubelet does: while the host answers its node is Ready and the daemon's pod runs."""

    def __init__(self, folder, disk, key, pod, api):
        self.folder, self.disk, self.pod, self.api = folder, disk, pod, api
        self.loader, self.ssh_port = Loader(disk, folder / "boot"), free_port()
        self.ssh_command = ["ssh", "-p", str(self.ssh_port), "-i", str(key), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
                            "-o", "ConnectTimeout=90", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=8", "root@127.0.0.1"]
        self.qemu, self.daemon, self.boots, self.mark, self.seen = None, None, 0, None, None
        # A /dev/kvm that is there may not work: in a virtual machine, say.
        self.accelerator = os.environ.get("WINDLASS_HOST_ACCELERATOR") or "tcg,thread=multi,tb-size=1024"

    # The machine.
    def serial(self):
        return (self.folder / f"serial.{self.boots}").read_text(errors="replace")

    def power_on(self):
        kernel, initrd, options = self.loader.choose()
        self.boots += 1
        self.qemu = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-M", "q35", "-accel", self.accelerator, "-cpu", "max", "-smp", "2", "-m", "4096", "-display", "none", "-no-reboot", "-nodefaults",
             "-serial", f"file:{self.folder / f'serial.{self.boots}'}", "-device", "virtio-rng-pci",
             "-drive", f"file={self.disk},format=raw,if=virtio,cache=unsafe,discard=unmap", "-drive", f"file={self.pod},format=raw,if=virtio,readonly=on",
             "-netdev", f"user,id=n0,hostfwd=tcp:127.0.0.1:{self.ssh_port}-:22", "-device", "virtio-net-pci,netdev=n0,romfile=",
             "-kernel", kernel, "-initrd", initrd, "-append", f"{options} quiet panic=-1"], stdin=subprocess.DEVNULL)
        say(f"power on: boot {self.boots}, {self.loader.chosen['title']}, deployment {self.loader.chosen['deployment'][:12]}")

    def ssh(self, command, fails=False, timeout=180):
        done = subprocess.run([*self.ssh_command, command], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        if done.returncode and not fails:
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def shown(self, command):
        out = self.ssh(command)
        say(f"host# {command}" + "".join(f"\n          {line}" for line in out.splitlines()))
        return out

    def status(self):
        return json.loads(self.ssh("bootc status --format json"))["status"]

    def tick(self):
        """What time does to a machine and its kubelet."""
        if self.qemu.poll() is not None:
            text = self.serial()
            if "Kernel panic" in text:
                say("boot " + str(self.boots) + " did not come up: " + re.findall(r"Kernel panic[^\n]*", text)[-1].strip())
                self.loader.came_up(False)
            elif "reboot: Restarting system" not in text:
                raise RuntimeError(f"the machine ended with {self.qemu.returncode}: {text[-2000:]}")
            self.pod_ended()
            self.power_on()
        if self.daemon and self.daemon.poll() is not None:
            say(f"the daemon's pod has ended ({self.daemon.returncode})")
            self.pod_ended()
        if not self.daemon:
            answer = ""
            with contextlib.suppress(subprocess.TimeoutExpired):
                answer = self.ssh("cat /proc/sys/kernel/random/boot_id; systemctl show --property=SoftRebootsCount --value; cat /usr/share/windlass-live/version 2>/dev/null || echo 1",
                                  fails=True, timeout=180)
            mark = answer.split()
            if len(mark) == 3:
                if mark != self.mark:
                    say(f"up: boot id {mark[0]}, soft reboots {mark[1]}, version {mark[2]}")
                    self.loader.came_up(True)
                self.mark = mark
                self.start_pod()
        self.look()

    # The kubelet.
    def ready(self, is_ready):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.api.patch(f"/api/v1/nodes/{NODE}/status", {"status": {"nodeInfo": {"bootID": self.mark[0] if self.mark else ""}, "conditions": [
            {"type": "Ready", "status": "True" if is_ready else "Unknown", "reason": "Played", "message": "", "lastTransitionTime": now, "lastHeartbeatTime": now}]}})

    def start_pod(self):
        self.ready(True)
        command = (f"mkdir -p {IN_IMAGE}; mountpoint -q {IN_IMAGE} || mount -o ro /dev/vdb {IN_IMAGE}; exec podman run --rm --replace --name daemon {LIMITS} --env NODE_NAME={NODE} "
                   f"--env KUBECONFIG=/mnt/kubeconfig --rootfs {IN_IMAGE}:O windlass-node --health-probe-bind-address=127.0.0.1:8081 --log-format=console")
        self.daemon = subprocess.Popen([*self.ssh_command, command], stdin=subprocess.DEVNULL, stdout=open(self.folder / "daemon.log", "a"), stderr=subprocess.STDOUT)

    def pod_ended(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.kill()
        if self.daemon:
            self.daemon.wait()
            self.ready(False)
        self.daemon = None

    def said(self):
        return (self.folder / "daemon.log").read_text(errors="replace") if (self.folder / "daemon.log").exists() else ""

    # Its object.
    def node(self):
        return self.api.ask(f"/apis/node.bootc.dev/v1alpha1/bootcnodes/{NODE}")

    def look(self):
        """Tells what the node's object says, each time that it says something else."""
        with contextlib.suppress(OSError):
            node = self.node()
            status = node.get("status", {})
            conditions = {c["type"]: c for c in status.get("conditions", [])}
            def entry(slot):
                return status.get(slot, {}).get("imageDigest", "-")[:19]
            what = [f"desired {node['spec']['desiredImage'].split('@')[1][:19]} {node['spec']['desiredImageState']}", *(f"{slot} {entry(slot)}" for slot in ("booted", "staged", "rollback"))]
            what += [f"{c['reason']}" + (f" ({c['message']})" if c["message"] else "") for c in (conditions.get(k) for k in ("Idle", "Degraded")) if c]
            now = "; ".join(what)
            if now != self.seen:
                say("node: " + now)
            self.seen = now

    def condition(self, kind):
        return next((c for c in self.node().get("status", {}).get("conditions", []) if c["type"] == kind), {"reason": "", "message": "", "status": ""})

    def off(self):
        self.pod_ended() if self.daemon else None
        if self.qemu and self.qemu.poll() is None:
            self.qemu.kill()
            self.qemu.wait()


class Scene:
    def __init__(self, machine, api, service):
        self.machine, self.api, self.service, self.steps, self.ref = machine, api, service, 0, ""

    def until(self, what, holds, seconds=900):
        end, problem = time.monotonic() + seconds, ""
        while time.monotonic() < end:
            if self.service.poll() is not None:
                raise RuntimeError(f"the service ended with {self.service.returncode}")
            self.machine.tick()
            try:
                if holds():
                    self.steps += 1
                    say(f"== {what}")
                    return
            except (OSError, subprocess.TimeoutExpired) as why:
                problem = str(why)
            time.sleep(1)
        raise RuntimeError(f"{what}: not within {seconds} s; {self.machine.seen}; {problem}; the daemon: {self.machine.said()[-3000:]}; the console: {self.machine.serial()[-1500:]}")

    def pool(self, ref, **rollout):
        say(f"pool: image {ref[-71:]}, {json.dumps(rollout)}")
        self.ref = ref
        body = {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": POOL},
                "spec": {"nodeSelector": {"matchLabels": {"pool": POOL}}, "image": {"ref": ref}, "rollout": {"paused": rollout.get("paused", False)},
                         "disruption": {"rebootPolicy": "AllowSoftReboot" if rollout.get("soft") else "RebootOnly"}}}
        path = "/apis/node.bootc.dev/v1alpha1/bootcnodepools"
        if POOL in [p["metadata"]["name"] for p in self.api.ask(path)["items"]]:
            self.api.patch(f"{path}/{POOL}", {"spec": body["spec"]})
        else:
            self.api.ask(path, "POST", body)

    def pool_status(self):
        return self.api.ask(f"/apis/node.bootc.dev/v1alpha1/bootcnodepools/{POOL}").get("status", {})

    def settled(self, digest):
        """The node runs it, nothing is under way, and the pool says so."""
        def holds():
            node, status = self.machine.node(), self.pool_status()
            return (node.get("status", {}).get("booted", {}).get("imageDigest") == digest and self.machine.condition("Idle")["status"] == "True"
                    and "bootc.dev/in-reboot-slot" not in node["metadata"].get("annotations", {}) and self.machine.condition("Degraded")["status"] == "False"
                    and status.get("updatedCount", 0) == 1 and status.get("targetDigest") == digest)
        return holds

    def node_says(self, idle=None, idle_message="", degraded=""):
        def holds():
            i, d = self.machine.condition("Idle"), self.machine.condition("Degraded")
            return (idle is None or i["reason"] == idle) and idle_message in i["message"] and (degraded in d["message"] if degraded else d["status"] == "False")
        return holds


def play_rollouts(scene, images, digest):
    m = scene.machine
    v1, v2 = images["v1"], images["v2"]
    # A locked image is not applied by a reboot by hand, and is staged again.
    scene.pool(v2, paused=True)
    scene.until("v2 is staged and locked, and waits", scene.node_says("Staged", "awaiting"))
    check(m.status()["staged"]["downloadOnly"], "it is not locked")
    first, staged = m.mark[0], m.said().count("done on the host action=stage")
    m.ssh("systemctl reboot", fails=True)
    scene.until("an administrator rebooted the host: v1 again, and v2 is staged again",
                lambda: m.mark[0] != first and m.said().count("done on the host action=stage") == staged + 1 and scene.node_says("Staged", "awaiting")())
    check(m.mark[2] == "1" and m.status()["staged"]["downloadOnly"], "a locked image was applied")
    scene.pool(v2)
    scene.until("v2 runs", scene.settled(digest["v2"]))
    check(m.mark[2] == "2", f"the host's file says version {m.mark[2]}")

    scene.pool(v1)
    scene.until("back on v1", scene.settled(digest["v1"]))
    check(m.mark[2] == "1", f"the host's file says version {m.mark[2]}")

    boot = m.mark
    scene.pool(v2, soft=True)
    scene.until("v2 runs after a soft reboot", scene.settled(digest["v2"]))
    check(m.mark == [boot[0], str(int(boot[1]) + 1), "2"], f"it was no soft reboot: {boot}, {m.mark}")
    scene.pool(v2)


def play_by_hand(scene, images, digest):
    """What an administrator staged."""
    m, v3 = scene.machine, images["v3"]
    m.shown(f"bootc switch {v3} 2>&1 | tail -n 4")
    # What it does about an image is decided in the pass that names it.
    scene.until("what an administrator staged is named", scene.node_says("Idle", f"{v3} was staged by hand: the next reboot boots it"))
    staged = m.status()["staged"]
    check(staged["image"]["imageDigest"] == digest["v3"] and not staged["downloadOnly"], "what an administrator staged was touched")


def play_unbootable(scene, images, digest):
    """An image that does not boot, and back."""
    m, before = scene.machine, scene.ref
    queued = "bootc status --format json | grep -o '\"rollbackQueued\":[a-z]*'"
    scene.pool(images["broken"])
    scene.until("the image that does not boot is noticed", scene.node_says(None, "", "rebooted but not on target"), 1500)
    check(len(m.loader.gave_up()) == 1, "it was not tried")
    scene.until("the pool counts the node as degraded", lambda: scene.pool_status().get("degradedCount") == 1)
    for c in scene.pool_status()["conditions"]:
        say(f"pool: {c['type']}={c['status']} {c['reason']}: {c['message']}")
    scene.until("the image is out of the boot order", lambda: "done on the host action=\"stay on the booted image\"" in m.said())
    check(m.shown(queued) == '"rollbackQueued":false', "the next reboot would try it again")
    boots = m.boots
    scene.pool(before)
    scene.until("the pool names the image again that runs", scene.settled(before.split("@")[1]))
    check(m.boots == boots, "it rebooted to stay where it was")
    # A loader without boot counting takes what is first.
    m.loader.tried.clear()
    boot = m.mark[0]
    m.ssh("systemctl reboot", fails=True)
    scene.until("the next reboot boots what ran", lambda: m.mark[0] != boot and scene.settled(before.split("@")[1])())
    check(not m.loader.gave_up(), "the image that does not boot was tried again")


PARTS = {"rollouts": play_rollouts, "by-hand": play_by_hand, "unbootable": play_unbootable}


def main():
    disk = os.environ.get("WINDLASS_HOST_DISK")
    if not disk:
        skip("WINDLASS_HOST_DISK names no prepared disk (docs/internals/fakes.md)")
    disk = pathlib.Path(disk).resolve()
    key, registry_folder = (pathlib.Path(os.environ.get(variable) or disk.parent / name).resolve() for variable, name in (("WINDLASS_HOST_KEY", "id"), ("WINDLASS_HOST_REGISTRY", "registry")))
    for what in (disk, key, registry_folder):
        if not what.exists():
            skip(f"{what} is not there")
    if os.geteuid() != 0:
        skip("it needs root")
    for tool in ("qemu-system-x86_64", "unshare", "setpriv", "ssh", "mke2fs", "docker-registry", "dpkg-deb", "cpack"):
        if not shutil.which(tool):
            skip(f"no {tool}")
    with tempfile.TemporaryDirectory(prefix="windlass-qemu-", dir=disk.parent) as temporary, contextlib.ExitStack() as at_end:
        folder = pathlib.Path(temporary)
        run("cp", "--sparse=always", "--reflink=auto", disk, folder / "disk.img", timeout=600)
        run("cp", "-a", "--reflink=auto", registry_folder, folder / "registry", timeout=600)
        image, nsenter = host.shipped_image(folder)
        api = host.Api(image, folder / "api")
        at_end.callback(api.stop)
        api.ask("/api/v1/nodes", "POST", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": {"pool": POOL}}})
        (image / "mnt/kubeconfig").write_text((folder / "api/kubeconfig").read_text().replace("127.0.0.1", "10.0.2.2"))
        run("mke2fs", "-q", "-t", "ext4", "-d", image, folder / "pod.img", "600M", timeout=300)
        machine = Machine(folder, folder / "disk.img", key, folder / "pod.img", api)
        at_end.callback(machine.off)
        machine.power_on()
        while not machine.mark:
            check(time.monotonic() < BEGAN + 1200, "the host does not come up")
            machine.tick()
            time.sleep(1)
        booted = machine.status()["booted"]["image"]
        place, repository = booted["image"]["image"].split("@")[0].split("/", 1)
        repository = repository.split(":")[0]
        check(place.startswith("10.0.2.2:"), f"the host's image is {booted['image']['image']}, of no registry at 10.0.2.2")
        registry = image_registry.Registry(folder, port=int(place.split(":")[1]))
        at_end.callback(registry.stop)
        base = booted["imageDigest"]
        images = {"v1": base}
        for version in ("2", "3"):
            images[f"v{version}"] = registry.derive(repository, base, f"windlass-live-{version}", {"usr/share/windlass-live/version": (0o644, version + "\n")})
        images["broken"] = registry.derive(repository, base, "windlass-live-broken", {"usr/lib/systemd/systemd": (0o755, "#!/bin/sh\nexit 1\n")})
        images = {name: f"{place}/{repository}@{digest}" for name, digest in images.items()}
        version = machine.shown("bootc --version")
        say(f"nsenter {nsenter} of the package; {machine.accelerator.split(',')[0]}")
        service = subprocess.Popen([BUILD / "windlass", "run", "--kubeconfig", folder / "api/kubeconfig", "--apis", "bootc", "--metrics-bind-address", "0", "--health-probe-bind-address", "0"],
                                   stdin=subprocess.DEVNULL, stdout=open(folder / "service.log", "w"), stderr=subprocess.STDOUT)
        at_end.callback(lambda: (service.terminate(), service.wait(20)))
        scene = Scene(machine, api, service)
        try:
            scene.pool(images["v1"])
            scene.until("the node is in the pool and runs v1", scene.settled(base))
            check(machine.shown("curl -s -w '%{http_code}' http://127.0.0.1:8081/healthz").split() == ["ok", "200"], "/healthz")
            for part in sys.argv[2:] or PARTS:
                PARTS[part](scene, images, {name: image.split("@")[1] for name, image in images.items()})
        except BaseException:
            print("--- service\n" + (folder / "service.log").read_text()[-4000:] + "--- daemon\n" + machine.said()[-6000:])
            raise
        print(f"## host: {version}: {', '.join(sys.argv[2:] or PARTS)}")
        print(json.dumps({"bootc": version.split()[-1], "boots": machine.boots, "steps": scene.steps, "seconds": round(time.monotonic() - BEGAN)}))


if __name__ == "__main__":
    main()
