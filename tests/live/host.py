#!/usr/bin/env python3
"""The shipped daemon on hosts of their own: root file systems of Debian 12 and 13, made of Debian's packages, with systemd as process 1 in
namespaces. The daemon runs as in its pod, from the package's root file system, in the host's PID namespace and with the package's own nsenter;
systemd-run, journalctl, mount and systemctl are the host's. Of the host only bootc is a stand-in: the fake one, which answers as recorded.

    tests/live/host.py BUILD_FOLDER [12|13]…       as root, with mmdebstrap

Root file systems are kept in ~/.cache/windlass/hosts.
Ends with one JSON line: {"hosts", "nsenter", "seconds"}.
"""
import contextlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "windlass/hosts"
SUITES = {"12": "bookworm", "13": "trixie"}
MIRROR = os.environ.get("WINDLASS_MIRROR", "http://deb.debian.org") + "/debian"
IMAGE = {c: f"registry.example.com/os/node@sha256:{c * 64}" for c in "abcd"}

# Process 1 of a host: $1 is its root, $2 its folder for cgroups, $3 a file with the id of this boot. As on a machine systemd gets an empty
# environment, but for `container`, which a daemon has to take away.
BOOT = """set -e; r=$1
mount --make-rprivate /; mount --bind "$r" "$r"
mount -t proc proc "$r/proc"; mount -t sysfs sysfs "$r/sys"; mount -t tmpfs tmpfs "$r/run" -o mode=755; mount -t tmpfs tmpfs "$r/tmp" -o mode=1777
mount -t tmpfs tmpfs "$r/dev" -o mode=755
for n in null zero full random urandom tty; do touch "$r/dev/$n"; mount --bind "/dev/$n" "$r/dev/$n"; done
mkdir "$r/dev/pts" "$r/dev/shm"; mount -t devpts devpts "$r/dev/pts" -o newinstance,ptmxmode=0666,mode=620; ln -s pts/ptmx "$r/dev/ptmx"
umount "$r/sys/fs/cgroup" 2>/dev/null || true
mount -t cgroup2 cgroup2 "$r/sys/fs/cgroup"
mount --bind "$3" "$r/proc/sys/kernel/random/boot_id"
cd "$r"; mkdir -p mnt; pivot_root . mnt; umount -l /mnt
exec env -i container=windlass-live /lib/systemd/systemd"""
# Its cgroups are in one of their own, so that they can be found and removed.
NAMESPACES = """set -e; mount --make-rprivate /; mount -t cgroup2 cgroup2 "$2"; mkdir -p "$2/$4"; echo $$ >"$2/$4/cgroup.procs"
exec unshare --pid --cgroup --ipc --uts --fork --kill-child=KILL sh -c "$5" sh "$1" "$2" "$3" """
# As the container runtime starts a pod of the DaemonSet: read-only, with the host's processes in /proc. $1 is the image, $2 is /mnt in it.
POD = """set -e; mount --make-rprivate /; mount --rbind "$1" "$1"; mount -o remount,bind,ro "$1"
mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount --bind "$2" "$1/mnt"; r=$1; shift 2; exec chroot "$r" "$@" """


def skip(why):
    print(f"## host: SKIPPED: {why}")
    sys.exit(77)


def run(*words, timeout=60, **how):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=timeout, **how)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def until(true, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if found := true():
                return found
        time.sleep(0.1)
    raise RuntimeError(f"{what}: not within {seconds} s")


def host_tree(version):
    """The root file system of a Debian host, as an archive; made once."""
    archive = CACHE / f"debian-{version}-{platform.machine()}.tar"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        new = archive.with_suffix(f".{os.getpid()}.tar")
        try:
            made = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--include=systemd,systemd-sysv,dbus,procps",
                                   *[f"--dpkgopt=path-exclude=/usr/share/{p}/*" for p in ("man", "doc", "locale")], SUITES[version], new, MIRROR],
                                  capture_output=True, text=True, timeout=600)
            if made.returncode:
                skip(f"mmdebstrap cannot make Debian {version}: {made.stderr.strip().splitlines()[-1:]}")
            new.rename(archive)
        except subprocess.TimeoutExpired:
            skip(f"mmdebstrap did not make Debian {version} within 600 s")
        finally:
            new.unlink(missing_ok=True)
    return archive


class Host:
    """A machine: its power switch, what runs on it, and the daemon's pod."""

    def __init__(self, version, image, folder, api):
        self.version, self.image, self.folder, self.api, self.name = version, image, folder, api, f"debian-{version}"
        self.root, self.state, self.mounted = folder / "root", folder / "root/fake_host", folder / "mounted"
        self.cgroup, self.process, self.daemon, self.boots = f"windlass-live-{os.getpid()}-{version}", None, None, 0
        for f in (self.root, self.mounted, folder / "cgroup"):
            f.mkdir(parents=True)
        run("tar", "-C", self.root, "--exclude=./dev/*", "-xpf", host_tree(version))
        (self.root / "mnt").mkdir(exist_ok=True)
        shutil.copy2(BUILD / "fake_host_bin/bootc", self.root / "usr/bin/bootc", follow_symlinks=True)
        (self.state / "ostree/bootc").mkdir(parents=True)
        (self.root / "ostree").symlink_to("fake_host/ostree")
        lines = [s for s in (ROOT / "tests/data/bootc-1.16.9/71-switch-progress.out").read_text().splitlines() if s.startswith("{")]
        for name, text in {"booted": IMAGE["a"], "stage_seconds": "1", "power_is_real": "", "unpullable": IMAGE["d"], "progress": "\n".join(lines)}.items():
            (self.state / name).write_text(text + "\n")
        self.log = open(folder / "daemon.log", "w+")

    # Power.
    def boot(self):
        if self.boots:
            run("env", f"FAKE_HOST={self.state}", BUILD / "fake_host", "power_on")
        self.boots += 1
        (self.folder / "boot_id").write_text(f"{self.boots:08d}-0000-4000-8000-000000000000\n")
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "sh", "-c", NAMESPACES, "sh", self.root, self.folder / "cgroup",
                                         self.folder / "boot_id", self.cgroup, BOOT], stdin=subprocess.DEVNULL, stdout=open(self.folder / "console.log", "a"),
                                        stderr=subprocess.STDOUT)
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.init = until(lambda: self.alive() and next((p for p in children.read_text().split() if pathlib.Path(f"/proc/{p}/comm").read_text() == "systemd\n"), None),
                          f"{self.name}: systemd")
        until(lambda: self.inside("systemctl", "is-system-running", fails=True).strip() in ("running", "degraded"), f"{self.name}: systemd is up", 90)

    def alive(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {(self.folder / 'console.log').read_text()[-2000:]}")
        return True

    def inside(self, *words, fails=False):
        done = subprocess.run(["nsenter", "--target", self.init, "--mount", "--pid", "--cgroup", "--", *words], capture_output=True, text=True, timeout=30)
        if done.returncode and not fails:
            raise RuntimeError(f"{self.name}: {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def goes_down(self):
        """Process 1 asks the kernel to reboot, which ends its PID namespace with SIGHUP."""
        def ended():
            # systemd stops what runs for a moment; nsenter then stops itself, and outside of the namespace nothing lets it go on.
            self.daemon.send_signal(signal.SIGCONT)
            return self.process.poll() is not None
        until(ended, f"{self.name}: the host reboots")
        if "reboot failed" in self.said() or "reboot failed" in self.condition("Degraded")["message"]:
            raise RuntimeError(f"{self.name}: a reboot that happens counts as failed: {self.said()[-2000:]}")
        ended = self.process.returncode
        if ended not in (-signal.SIGHUP, 128 + signal.SIGHUP):
            raise RuntimeError(f"{self.name}: the host ended with {ended}: {(self.folder / 'console.log').read_text()[-2000:]}")
        self.daemon.wait(20)
        self.daemon = None

    def off(self):
        for process in (self.daemon, self.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        # The first process that is killed takes its PID namespace along, but not at once.
        for _ in range(50):
            left = subprocess.run(["unshare", "--mount", "sh", "-c", 'mount --make-rprivate /; mount -t cgroup2 cgroup2 "$1"; d=$1/$2; [ -d "$d" ] || exit 0; find "$d" -depth -type d -exec rmdir {} +',
                                   "sh", self.folder / "cgroup", self.cgroup], capture_output=True, timeout=30)
            if left.returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError(f"{self.name}: cgroups are left: {left.stderr}")

    # The daemon.
    def start(self):
        server = self.api.folder / "kubeconfig"
        shutil.copy(server, self.mounted / "kubeconfig")
        self.daemon = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "nsenter", "--target", self.init, "--pid", "--cgroup", "--", "unshare", "--mount", "sh", "-c", POD, "sh",
                                        self.image, self.mounted, "windlass-node", f"--health-probe-bind-address=127.0.0.1:{self.api.port(self.name)}"],
                                       stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
                                       env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "container": "oci", "NODE_NAME": self.name, "KUBECONFIG": "/mnt/kubeconfig",
                                            "KUBERNETES_SERVICE_HOST": "10.0.0.1"})

    def stop(self):
        """As the kubelet ends a pod: its first process gets SIGTERM. That is the child of nsenter."""
        [inner] = pathlib.Path(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children").read_text().split()
        os.kill(int(inner), signal.SIGTERM)
        self.daemon.wait(20)
        self.daemon = None

    def health(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.api.port(self.name)}/healthz", timeout=5) as answer:
                return answer.status, answer.read().decode().strip()
        except urllib.error.HTTPError as why:
            return why.code, why.read().decode().strip()

    def said(self):
        return (self.folder / "daemon.log").read_text()

    # Its object.
    def desire(self, image, state="Staged"):
        self.api.patch(f"/apis/node.bootc.dev/v1alpha1/bootcnodes/{self.name}", {"spec": {"desiredImage": IMAGE[image], "desiredImageState": state}})

    def status(self):
        return self.api.ask(f"/apis/node.bootc.dev/v1alpha1/bootcnodes/{self.name}").get("status", {})

    def condition(self, kind):
        return next((c for c in self.status().get("conditions", []) if c["type"] == kind), {"reason": "", "message": "", "status": ""})

    def until(self, idle, degraded="", seconds=60):
        def holds():
            if self.daemon.poll() is not None:
                raise RuntimeError(f"{self.name}: the daemon ended with {self.daemon.returncode}: {self.said()[-2000:]}")
            d = self.condition("Degraded")
            return self.condition("Idle")["reason"] == idle and (degraded in d["message"] if degraded else d["status"] == "False")
        try:
            until(holds, f"{self.name}: {idle} {degraded}", seconds)
        except RuntimeError as why:
            raise RuntimeError(f"{why}: it says {self.status().get('conditions')}; the daemon: {self.said()[-3000:]}") from None


def shipped_image(folder):
    """The root file system of the image that is shipped, and the version of its nsenter."""
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", folder / "package", timeout=300)
    [package] = (folder / "package").glob("windlass_*.deb")
    run(ROOT / "deploy/package/rootfs", package, folder / "image", timeout=300)
    return folder / "image", run("chroot", folder / "image", "nsenter", "--version").split()[-1]


class Api:
    """The embedded API server, with the kinds of the package."""

    def __init__(self, image, folder):
        self.folder, self.ports = folder, {}
        self.process = subprocess.Popen([BUILD / "windlass", "apiserver", "--dir", folder, "--no-workloads"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until((folder / "kubeconfig").exists, "the embedded API server")
        self.server = re.search(r"server: *\"?(http://[^\"\s]+)", (folder / "kubeconfig").read_text())[1]
        run(BUILD / "windlass", "helm", "install", "windlass", image / "usr/share/windlass/chart", "--kubeconfig", folder / "kubeconfig", "-n", "bootc-operator", "--create-namespace",
            "--set", "daemon.enabled=false,image.registry=registry.example.com", env={"HOME": str(folder), "PATH": os.environ["PATH"]})

    def port(self, name):
        if name not in self.ports:
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                self.ports[name] = s.getsockname()[1]
        return self.ports[name]

    def ask(self, path, method="GET", body=None, kind="application/json"):
        request = urllib.request.Request(self.server + path, method=method, data=json.dumps(body).encode() if body is not None else None, headers={"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read())

    def patch(self, path, body):
        return self.ask(path, "PATCH", body, "application/merge-patch+json")

    def node(self, name):
        self.ask("/apis/node.bootc.dev/v1alpha1/bootcnodes", "POST", {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNode", "metadata": {"name": name},
                                                                      "spec": {"desiredImage": IMAGE["a"], "desiredImageState": "Staged"}})

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def check(true, what):
    if not true:
        raise RuntimeError(what)


def play(host):
    host.api.node(host.name)
    host.boot()
    # A host without bootc is told apart from one that cannot be entered.
    away = host.root / "usr/bin/bootc.away"
    (host.root / "usr/bin/bootc").rename(away)
    host.start()
    host.until("Idle", "bootc switch --help: nsenter: failed to execute bootc: No such file or directory")
    check(host.health()[0] == 503 and "failed to execute bootc" in host.health()[1], f"{host.name}: /healthz says {host.health()}")
    check(host.said().count("the host cannot be read") == 1, f"{host.name}: it is not in the log once: {host.said()[-2000:]}")
    away.rename(host.root / "usr/bin/bootc")
    host.until("Idle")
    check("the host can be read again" in host.said(), f"{host.name}: that it is well is not in the log")
    check(host.health() == (200, "ok"), f"{host.name}: /healthz says {host.health()}")
    check(host.status()["booted"]["image"] == IMAGE["a"], f"{host.name}: {host.status()}")
    # What cannot be fetched: bootc's own words, out of the host's journal.
    host.desire("d")
    host.until("Idle", "bootc stage failed: Switching: Switching (ostree): Preparing import: Fetching manifest: failed to invoke method OpenImage")
    check(host.condition("Degraded")["message"].endswith("manifest unknown"), host.condition("Degraded"))
    check(re.search(r"failed on the host.*stage.*manifest unknown", host.said()), f"{host.name}: the failed stage is not in the log by its name")
    # A stage outlives its daemon, and the next one finds it.
    (host.state / "stage_seconds").write_text("8\n")
    host.desire("b")
    host.until("Staging")
    until(lambda: "ActiveState=active" in host.inside("systemctl", "show", "bootc-operator-switch.service", "--property=ActiveState"), f"{host.name}: the stage's unit")
    host.stop()
    host.start()
    host.until("Staged")
    check("a stage goes on that was begun before" in host.said(), f"{host.name}: the stage was not found: {host.said()[-2000:]}")
    check((host.state / "locked").exists() and host.status()["staged"]["image"] == IMAGE["b"], f"{host.name}: {host.status()}")
    journal = host.inside("journalctl", "-o", "cat", "--no-pager", "_SYSTEMD_UNIT=bootc-operator-switch.service")
    check("Queued for next boot: " + IMAGE["b"] in journal, f"{host.name}: the journal says {journal}")
    # The approved image boots, by the host's own reboot.
    host.desire("b", "Booted")
    host.goes_down()
    check(re.search(r"run on the host.*reboot", host.said()), f"{host.name}: the reboot is not in the log")
    host.boot()
    host.start()
    host.until("Idle")
    check(host.status()["booted"]["image"] == IMAGE["b"] and host.status()["rollback"]["image"] == IMAGE["a"], f"{host.name}: {host.status()}")


def main():
    if os.geteuid() != 0:
        skip("it needs root")
    for tool in ("mmdebstrap", "unshare", "nsenter", "setpriv", "dpkg-deb", "cpack"):
        if not shutil.which(tool):
            skip(f"no {tool} (./dev setup live)")
    probe = subprocess.run(["unshare", "--mount", "--pid", "--cgroup", "--fork", "sh", "-c", "mount --make-rprivate / && mount -t proc proc /proc && mount -t cgroup2 cgroup2 /tmp"], capture_output=True, text=True, timeout=30)
    if probe.returncode:
        skip(f"namespaces, /proc or cgroup2 cannot be had: {probe.stderr.strip()}")
    began = time.monotonic()
    versions = sys.argv[2:] or list(SUITES)
    for version in versions:
        host_tree(version)
    with tempfile.TemporaryDirectory(prefix="windlass-host-") as temporary, contextlib.ExitStack() as at_end:
        folder = pathlib.Path(temporary)
        image, nsenter = shipped_image(folder)
        prepared = time.monotonic()
        api = Api(image, folder / "api")
        at_end.callback(api.stop)
        for version in versions:
            host = Host(version, image, folder / version, api)
            at_end.callback(host.off)
            play(host)
            print(f"## host: Debian {version}: inspected, staged, adopted, locked, rebooted and back, through nsenter {nsenter} of the package")
    print(json.dumps({"hosts": versions, "nsenter": nsenter, "seconds": round(time.monotonic() - prepared), "prepared_in": round(prepared - began)}))


if __name__ == "__main__":
    main()
