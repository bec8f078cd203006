"""A real etcd and kube-apiserver of a test's own, on loopback, with an administrator's kubeconfig."""
import json
import os
import pathlib
import secrets
import shutil
import subprocess

from waits import check, free_port, until

ASSETS = pathlib.Path(os.environ.get("KUBEBUILDER_ASSETS") or pathlib.Path.home() / ".cache/windlass/envtest")
ETCD = str(ASSETS / "etcd") if (ASSETS / "etcd").exists() else shutil.which("etcd")


def is_there():
    """Whether the programs are; says so where they are not."""
    if (ASSETS / "kube-apiserver").exists() and ETCD:
        return True
    print(f"live: SKIPPED: no kube-apiserver in {ASSETS}, or no etcd")
    return False


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

    def start(self, *more):
        def run(name, *command):
            with open(self.folder / f"{name}.log", "a") as log:
                self.processes.append(subprocess.Popen(command, stdout=log, stderr=log))

        peer = f"http://127.0.0.1:{self.peer}"
        run("etcd", ETCD, "--data-dir", self.folder / "etcd", "--listen-client-urls", f"http://127.0.0.1:{self.client}", "--advertise-client-urls",
            f"http://127.0.0.1:{self.client}", "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}")
        run("apiserver", ASSETS / "kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self.client}", "--secure-port", str(self.api), "--bind-address",
            "127.0.0.1", "--cert-dir", self.folder / "certs", "--service-cluster-ip-range", "10.0.0.0/24", "--authorization-mode", "RBAC", "--token-auth-file",
            self.folder / "tokens.csv", "--service-account-key-file", self.folder / "sa.key", "--service-account-signing-key-file", self.folder / "sa.key",
            "--service-account-issuer", "https://windlass.test", "--disable-admission-plugins", "ServiceAccount", *more)
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
