#!/usr/bin/env python3
"""What is inside of a package or an image, tried as it will run: a root file system that is mounted read-only, as a user without
rights, for every role of the program.

    tests/deploy/contents.py ROOT_FILE_SYSTEM        as root, or where a user may make namespaces
"""
import contextlib
import gzip
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
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
ROOT = pathlib.Path(sys.argv[1]).resolve()
NOBODY = 65532
# $1 is the root file system, $2 the folder that is /mnt in it, $3 the user.
INSIDE = """set -e; PATH=/usr/sbin:/usr/bin
mount --rbind "$1" "$1"; mount -o remount,bind,ro "$1"; mount --rbind /proc "$1/proc"; mount --rbind /dev "$1/dev"; mount --bind "$2" "$1/mnt"
root=$1 user=$3; shift 3
if [ "$user" = keep ]; then exec chroot "$root" "$@"; else exec chroot --userspec="$user:$user" --groups= "$root" "$@"; fi"""

# A host that bootc manages, as far as a daemon inspects it. $1 is the package's root file system, mounted as a pod's.
RECORDED = SOURCE / "tests/data/bootc-1.16.9/10-status-booted.out"
BOOTED = json.loads(RECORDED.read_text())["status"]["booted"]
BOOTC = f"""#!/bin/sh
case "$*" in
"status --json --format-version 1") [ -z "$container" ] && exec cat {RECORDED};;
*--help) echo "Usage: bootc $1"; exit;;
esac
echo "error: unexpected argument '$*' found" >&2; exit 2"""
HOST = """set -e; mount --make-rprivate /; mount -t proc proc /proc
unshare --mount sh -c 'mount --make-rprivate /; mount --rbind "$1" "$1"; mount -o remount,bind,ro "$1"; mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount --bind "$2" "$1/mnt"
r=$1; shift 2; exec env -i PATH=/usr/sbin:/usr/bin container=oci NODE_NAME=node-1 KUBECONFIG=/mnt/node/kubeconfig chroot "$r" windlass-node "$@"' sh "$@" & wait $!"""

checks = []


def command(words, work, user=NOBODY):
    as_root = os.geteuid() == 0
    return [*(["unshare", "-m"] if as_root else ["unshare", "-r", "-m"]), "--propagation", "private", "sh", "-c", INSIDE, "sh", ROOT, work,
            str(user) if as_root else "keep", *words]


def run(*words, work, user=NOBODY, fails=False, env=None):
    done = subprocess.run(command(words, work, user), capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin"} | (env or {}))
    if (done.returncode != 0) != fails:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


@contextlib.contextmanager
def running(*words, work, user=NOBODY, env=None):
    process = subprocess.Popen(command(words, work, user), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={"PATH": "/usr/bin"} | (env or {}))
    try:
        yield process
    finally:
        process.terminate()
        said, _ = process.communicate(timeout=20)
        if process.returncode not in (0, -15):
            raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}: {said}")


def until(true, what, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if true():
                return
        time.sleep(0.1)
    raise RuntimeError(f"{what}: not within {seconds} s")


def answers(port, path):
    with socket.create_connection(("127.0.0.1", port), 5) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        return s.makefile("rb").read().startswith(b"HTTP/1.1 200")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def check(f):
    checks.append(f)
    return f


@check
def says_its_version(work):
    return f"{run('windlass', 'version', work=work).strip()}, {run('windlass-node', '--version', work=work).strip()}"


@check
def holds_no_benches(work):
    """They are for developers, and hold attacks."""
    programs = sorted(p.name for p in (ROOT / "usr/bin").glob("windlass*"))
    if programs != ["windlass", "windlass-node"]:
        raise RuntimeError(f"/usr/bin has {programs}")
    said = run("windlass", "bench", "store", work=work, fails=True)
    if "windlass-bench: it is neither in /usr/bin nor in /usr/libexec/windlass" not in said:
        raise RuntimeError(f"windlass-bench: {said}")
    return ", ".join(programs)


@check
def runs_without_rights_and_writes_nothing(work):
    before = {p for p in ROOT.rglob("*")}
    run("windlass", "helm", "repo", "add", "a", "http://127.0.0.1:1", work=work, fails=True)
    with running("windlass", "apiserver", "--dir", "/mnt/api", work=work) as process:
        until((work / "api/kubeconfig").exists, "the embedded API server")
        # Each step to it replaced the one before.
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    uid, rights = re.search(r"Uid:\t(\d+)", status)[1], re.search(r"CapEff:\t(\w+)", status)[1]
    if os.geteuid() == 0 and (uid != str(NOBODY) or int(rights, 16) != 0):
        raise RuntimeError(f"runs as {uid} with rights {rights}")
    if left := {p for p in ROOT.rglob("*")} - before:
        raise RuntimeError(f"wrote {left}")
    return f"uid {uid}"


@check
def a_service_installs_itself_and_gets_ready(work):
    """The program as API server, as Helm and as the controller with its manifest's arguments, all out of the root file system."""
    with running("windlass", "apiserver", "--dir", "/mnt/api", "--tls", work=work):
        kubeconfig = work / "api/kubeconfig"
        until(kubeconfig.exists, "the embedded API server")
        # Without the daemon: the embedded API server has no admission policies.
        run("windlass", "helm", "install", "windlass", "/usr/share/windlass/chart", "--kubeconfig", "/mnt/api/kubeconfig", "-n", "os", "--create-namespace",
            "--set", "daemon.enabled=false,image.registry=registry.example.com", work=work, env={"HOME": "/mnt"})
        shown = run("windlass", "helm", "get", "manifest", "windlass", "--kubeconfig", "/mnt/api/kubeconfig", "-n", "os", work=work, env={"HOME": "/mnt"})
        arguments = re.search(r"command: \[windlass, run\]\n +args:\n((?: +- .*\n)+)", shown)[1]
        ports = [free_port(), free_port()]
        words = [w.strip()[2:].replace("$(POD_NAMESPACE)", "os").replace(":8080", f"127.0.0.1:{ports[0]}").replace(":8081", f"127.0.0.1:{ports[1]}")
                 for w in arguments.splitlines()]
        with running("windlass", "run", *words, work=work, env={"KUBECONFIG": "/mnt/api/kubeconfig", "POD_NAMESPACE": "os", "POD_NAME": "pod"}):
            until(lambda: answers(ports[1], "/readyz"), "/readyz")
            until(lambda: answers(ports[0], "/metrics"), "/metrics")
        status = run("windlass", "status", "--kubeconfig", "/mnt/api/kubeconfig", "-o", "json", work=work)
        return f"ready; {len(json.loads(status)['clusters'])} cluster"


@check
def the_daemon_enters_its_host(work):
    """As in its pod, with nothing but the address of the API server: process 1 is a host that has bootc, and the package's nsenter enters it."""
    (work / "bin").mkdir()
    (work / "bin/bootc").write_text(BOOTC)
    (work / "bin/bootc").chmod(0o755)
    with running("windlass", "apiserver", "--dir", "/mnt/node", work=work):
        until((work / "node/kubeconfig").exists, "the embedded API server")
        # A daemon looks for its settings, so the kinds have to be there.
        run("windlass", "helm", "install", "windlass", "/usr/share/windlass/chart", "--kubeconfig", "/mnt/node/kubeconfig", "-n", "os", "--create-namespace",
            "--set", "daemon.enabled=false,image.registry=registry.example.com", work=work, env={"HOME": "/mnt"})
        nodes = re.search(r"server: *\"?(http://[^\"\s]+)", (work / "node/kubeconfig").read_text())[1] + "/apis/node.bootc.dev/v1alpha1/bootcnodes"
        wanted = {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNode", "metadata": {"name": "node-1"}, "spec": {"desiredImage": f"10.0.2.2:5000/host@{BOOTED['image']['imageDigest']}", "desiredImageState": "Staged"}}
        with urllib.request.urlopen(urllib.request.Request(nodes, method="POST", data=json.dumps(wanted).encode(), headers={"Content-Type": "application/json"}), timeout=20):
            pass
        port = free_port()
        as_root = [] if os.geteuid() == 0 else ["-r"]
        host = subprocess.Popen(["unshare", *as_root, "--mount", "--pid", "--cgroup", "--fork", "--kill-child=KILL", "sh", "-c", HOST, "sh", ROOT, work, f"--health-probe-bind-address=127.0.0.1:{port}"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={"PATH": f"{work}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "container": "lxc"})
        try:
            def conditions():
                with urllib.request.urlopen(f"{nodes}/node-1", timeout=20) as answer:
                    return json.loads(answer.read()).get("status", {}).get("conditions", [])
            until(conditions, "what the daemon says of its host")
            seen = {c["type"]: c for c in conditions()}
            healthy = answers(port, "/healthz")
        finally:
            host.kill()
            said, _ = host.communicate(timeout=20)
    if seen["Idle"]["reason"] != "Idle" or seen["Degraded"]["status"] != "False" or not healthy:
        raise RuntimeError(f"/healthz {healthy}, {seen}: {said}")
    return f"inspected through {run('nsenter', '--version', work=work, user=0).strip()}"


@check
def the_init_container_of_a_server_finds_its_command(work):
    (work / "secrets/one/..v").mkdir(parents=True)
    (work / "secrets/one/..v/key1").write_text("planted")
    (work / "secrets/one/..data").symlink_to("..v")
    (work / "secrets/one/key1").symlink_to("..data/key1")
    (work / "repository").mkdir()
    os.chmod(work / "repository", 0o777)
    said = run("/secret-converter", "--secrets", "/mnt/secrets", "--repository", "/mnt/repository", work=work)
    made = {f.name: f.read_text() for f in (work / "repository").iterdir()}
    if made != {r"default\x2Fone\x2Fkey1": "planted"} or "planted" in said:
        raise RuntimeError(f"{said}: {made}")
    # As its pod calls it, and no Secret is mounted.
    run("/secret-converter", work=work)
    return said.strip()


@check
def has_what_a_person_looks_for(work):
    share = ROOT / "usr/share"
    commands = re.findall(r"^  ([a-z-]+) {2,}", run("windlass", "--help-all", work=work).split("Commands:")[1].split("\n\n")[0], re.M)
    commands.remove("bench")  # it is in no package
    for name in ["windlass", *(f"windlass-{c}" for c in commands)]:
        page = gzip.decompress((share / f"man/man1/{name}.1.gz").read_bytes()).decode()
        shown = subprocess.run(["groff", "-k", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True)
        if shown.stderr or not re.search(r"\.SH SYNOPSIS\nwindlass", page):
            raise RuntimeError(f"man {name}: {shown.stderr or 'no synopsis'}")
    completion = 'source "$1"; COMP_WORDS=(windlass run --kubecon) COMP_CWORD=2; _windlass; echo "${COMPREPLY[@]}"'
    completed = subprocess.run(["bash", "-c", completion, "bash", share / "bash-completion/completions/windlass"], capture_output=True, text=True, check=True).stdout
    if "--kubeconfig" not in completed:
        raise RuntimeError(f"the completion offers {completed!r}")
    for pack in (share / "windlass/policies").rglob("policy.lua"):
        run("windlass", "policy", "test", f"/{pack.parent.relative_to(ROOT)}", work=work)
    for folder, ours, files in [("crds", "deploy/crds", "*"), ("chart", "deploy/chart", "*"), ("policies", "policies", "*.lua")]:
        for file in (SOURCE / ours).rglob(files):
            if file.is_file() and file.relative_to(SOURCE).parts[:2] != ("policies", "host") and file.read_bytes() != (share / "windlass" / folder / file.relative_to(SOURCE / ours)).read_bytes():
                raise RuntimeError(f"{file} is another one in the package")
    return f"{len(commands) + 1} man pages, completions, policies, kinds, chart"


@check
def the_service_unit_is_sound(work):
    unit = ROOT / "usr/lib/systemd/system/windlass-daemon.service"
    text = unit.read_text()
    words = re.search(r"^ExecStart=(windlass-node .*)$", text, re.M)[1].split()
    # By its own name, and by the one that a person types.
    for program in ([words[0]], ["windlass", "daemon"]):
        said = run(*program, *words[1:], "--health-probe-bind-address=wrong", work=work, fails=True, env={"NODE_NAME": "n"})
        if "windlass-node: --health-probe-bind-address wrong: " not in said:
            raise RuntimeError(f"{' '.join(program + words[1:])}: {said}")
    if not shutil.which("systemd-analyze"):
        return "its arguments are known"
    # The program is not on this machine: another one stands in for it.
    copy = work / unit.name
    copy.write_text(text.replace("ExecStart=windlass-node", "ExecStart=/bin/true"))
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    if wrong := [line for line in verified.stderr.splitlines() if unit.name in line and "Unit sysinit.target not found" not in line]:
        raise RuntimeError("\n".join(wrong))
    return "its arguments and settings are known"


def main():
    failed = 0
    for f in checks:
        with tempfile.TemporaryDirectory(prefix="windlass-contents-") as folder:
            os.chmod(folder, 0o777)
            name = f.__name__.replace("_", " ")
            try:
                print(f"## contents: {name}: {f(pathlib.Path(folder))}")
            except Exception as why:  # noqa: BLE001
                failed += 1
                print(f"contents: FAILED: {name}: {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
