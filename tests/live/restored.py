#!/usr/bin/env python3
"""An etcd that is restored from a backup under a running service, as after a disaster: etcd and kube-apiserver are stopped, the data folder of before is put
back, and both start again on the same ports. The service has to notice that the versions went back (docs/adr/0006), within two minutes at rest.
Starts an etcd and a kube-apiserver of its own.

    KUBEBUILDER_ASSETS=D tests/live/restored.py BUILD_FOLDER

Ends with one JSON line: {"live", "noticed_s", "seen_s"}.
"""
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from waits import check, free_port, until

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSETS = pathlib.Path(os.environ.get("KUBEBUILDER_ASSETS") or pathlib.Path.home() / ".cache/windlass/envtest")
ETCD = str(ASSETS / "etcd") if (ASSETS / "etcd").exists() else shutil.which("etcd")
AT_REST = 120  # seconds: docs/adr/0006
IMAGES = [f"registry.live.local/os/node@sha256:{c * 64}" for c in "abc"]


class Server:
    def __init__(self, folder):
        self.folder, self.client, self.peer, self.api, self.processes = folder, free_port(), free_port(), free_port(), []
        token = secrets.token_hex(16)
        (folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
        subprocess.run(["openssl", "genrsa", "-out", folder / "sa.key", "2048"], check=True, capture_output=True)
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "live", "contexts": [{"name": "live", "context": {"cluster": "live", "user": "admin"}}],
            "clusters": [{"name": "live", "cluster": {"server": f"https://127.0.0.1:{self.api}", "certificate-authority": str(folder / "certs/apiserver.crt"),
                                                      "tls-server-name": "kubernetes"}}],
            "users": [{"name": "admin", "user": {"token": token}}]}))

    def start(self):
        def run(name, *command):
            with open(self.folder / f"{name}.log", "a") as log:
                self.processes.append(subprocess.Popen(command, stdout=log, stderr=log))

        peer = f"http://127.0.0.1:{self.peer}"
        run("etcd", ETCD, "--data-dir", self.folder / "etcd", "--listen-client-urls", f"http://127.0.0.1:{self.client}", "--advertise-client-urls",
            f"http://127.0.0.1:{self.client}", "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}")
        run("apiserver", ASSETS / "kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self.client}", "--secure-port", str(self.api), "--bind-address",
            "127.0.0.1", "--cert-dir", self.folder / "certs", "--service-cluster-ip-range", "10.0.0.0/24", "--authorization-mode", "RBAC", "--token-auth-file",
            self.folder / "tokens.csv", "--service-account-key-file", self.folder / "sa.key", "--service-account-signing-key-file", self.folder / "sa.key",
            "--service-account-issuer", "https://windlass.test", "--disable-admission-plugins", "ServiceAccount")
        until(lambda: self.kubectl("get", "--raw", "/readyz", ok=False).returncode == 0, "kube-apiserver is ready", 120)

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.processes = []

    def kubectl(self, *arguments, text=None, ok=True):
        done = subprocess.run([ASSETS / "kubectl", "--kubeconfig", self.kubeconfig, *arguments], input=text, capture_output=True, text=True, timeout=60)
        check(done.returncode == 0 or not ok, f"kubectl {arguments}: {done.stderr}")
        return done

    def apply(self, *objects):
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def is_observed(self):
        pool = json.loads(self.kubectl("get", "bootcnodepool", "live", "-o", "json").stdout)
        return pool.get("status", {}).get("observedGeneration") == pool["metadata"]["generation"]


def pool(image):
    return {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "live"},
            "spec": {"nodeSelector": {"matchLabels": {"live-restored": "yes"}}, "image": {"ref": image}}}


def main():
    if not (ASSETS / "kube-apiserver").exists() or not ETCD:
        print(f"live: SKIPPED: no kube-apiserver in {ASSETS}, or no etcd")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server, service = Server(folder), None
        log = folder / "run.log"
        try:
            server.start()
            server.kubectl("apply", "--server-side", "-f", str(ROOT / "deploy/crds"))
            server.kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "--timeout=20s")
            server.apply(pool(IMAGES[0]))
            with open(log, "w") as out:
                service = subprocess.Popen([BUILD / "windlass", "run", "--kubeconfig", server.kubeconfig, "--metrics-bind-address", "0",
                                            "--health-probe-bind-address", "0"], stdout=out, stderr=out)
            until(server.is_observed, "the pool is seen", 60)
            server.stop()
            shutil.copytree(folder / "etcd", folder / "backup")
            server.start()
            for i in range(50):  # what the backup lacks
                server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"later-{i}", "namespace": "default"}})
            server.apply(pool(IMAGES[1]))
            until(server.is_observed, "the service came back after a restart, and sees what changes", 60)
            time.sleep(40)  # a bookmark or a question told it of these versions
            check("and had been at" not in log.read_text(), "a restart is no restore")
            server.stop()
            shutil.rmtree(folder / "etcd")
            shutil.move(folder / "backup", folder / "etcd")
            server.start()
            server.apply(pool(IMAGES[2]))
            began = time.monotonic()
            until(lambda: "and had been at" in log.read_text(), "the restore is noticed", AT_REST)
            noticed = time.monotonic() - began
            until(server.is_observed, "the pool is seen as it is now", AT_REST)
            print(json.dumps({"live": "restored", "noticed_s": round(noticed, 1), "seen_s": round(time.monotonic() - began, 1)}))
        except Exception:
            for file in ("run.log", "apiserver.log", "etcd.log"):
                if (folder / file).exists():
                    print(f"--- {file}\n" + "".join((folder / file).read_text().splitlines(keepends=True)[-15:]))
            raise
        finally:
            if service:
                service.kill()
                service.wait()
            server.stop()


main()
