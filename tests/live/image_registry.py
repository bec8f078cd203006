"""A real docker-registry on loopback with a throwaway folder, ended by its process id, and how to push to it."""
import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import time
import urllib.error
import urllib.request

program = shutil.which("docker-registry")
IMAGE, INDEX = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json"


def request(method, url, body=None, fields=None):
    asked = urllib.request.Request(url, data=body, method=method, headers=fields or {})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return answer.read(), answer.headers


def certificate(folder):
    """The files of a certificate for 127.0.0.1, which is its own authority, and of its key."""
    crt, key = os.path.join(folder, "registry.crt"), os.path.join(folder, "registry.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=registry", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", crt], check=True, capture_output=True)
    return crt, key


class Registry:
    def __init__(self, folder, tls=None, port=0):
        """tls: the files of certificate(); such a one is pushed to by others alone. What lies in FOLDER/registry is served."""
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", port))
            self.host = "127.0.0.1:%d" % s.getsockname()[1]
        config = os.path.join(folder, "registry.yml")
        with open(config, "w") as f:
            f.write("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
                    "storage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}\nhttp: {addr: '%s'%s}\n"
                    % (os.path.join(folder, "registry"), self.host, ", tls: {certificate: '%s', key: '%s'}" % tls if tls else ""))
        self.process = subprocess.Popen([program, "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                if tls:
                    socket.create_connection(self.host.split(":"), 1).close()
                else:
                    request("GET", "http://%s/v2/" % self.host)
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("docker-registry did not start")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)

    def blob(self, repository, content):
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        _, fields = request("POST", "http://%s/v2/%s/blobs/uploads/" % (self.host, repository), b"")
        place = fields["Location"]
        request("PUT", place + ("&" if "?" in place else "?") + "digest=" + digest, content,
                {"Content-Type": "application/octet-stream"})
        return {"digest": digest, "size": len(content)}

    def push(self, ref, content):
        """An image of one layer; returns its digest."""
        repository, name = ref.split(":")
        config = dict(self.blob(repository, b"{}"), mediaType="application/vnd.oci.image.config.v1+json")
        layer = dict(self.blob(repository, content), mediaType="application/vnd.oci.image.layer.v1.tar")
        manifest = json.dumps({"schemaVersion": 2, "mediaType": IMAGE, "config": config, "layers": [layer]}).encode()
        request("PUT", "http://%s/v2/%s/manifests/%s" % (self.host, repository, name), manifest, {"Content-Type": IMAGE})
        return "sha256:" + hashlib.sha256(manifest).hexdigest()

    def derive(self, repository, base, name, files):
        """An image of BASE (a digest) and one more layer of files, {path: (mode, text)}; returns its digest."""
        accept = {"Accept": IMAGE + ", application/vnd.docker.distribution.manifest.v2+json"}
        manifest = json.loads(request("GET", "http://%s/v2/%s/manifests/%s" % (self.host, repository, base), fields=accept)[0])
        config = json.loads(request("GET", "http://%s/v2/%s/blobs/%s" % (self.host, repository, manifest["config"]["digest"]))[0])
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as layer:
            for path, (mode, text) in files.items():
                entry = tarfile.TarInfo(path)
                entry.mode, entry.size = mode, len(text)
                layer.addfile(entry, io.BytesIO(text.encode()))
        config["rootfs"]["diff_ids"].append("sha256:" + hashlib.sha256(packed.getvalue()).hexdigest())
        config.setdefault("history", []).append({"created_by": name})
        config.setdefault("config", {}).setdefault("Labels", {})["org.opencontainers.image.version"] = name
        kind = manifest["layers"][-1]["mediaType"]
        manifest["layers"].append({"mediaType": kind, **self.blob(repository, gzip.compress(packed.getvalue()) if kind.endswith("gzip") else packed.getvalue())})
        manifest["config"] = {**manifest["config"], **self.blob(repository, json.dumps(config).encode())}
        text = json.dumps(manifest).encode()
        request("PUT", "http://%s/v2/%s/manifests/%s" % (self.host, repository, name), text, {"Content-Type": manifest.get("mediaType", IMAGE)})
        return "sha256:" + hashlib.sha256(text).hexdigest()

    def digest(self, ref):
        """What a tag names; None where it is not there."""
        repository, name = ref.split(":")
        try:
            return request("HEAD", "http://%s/v2/%s/manifests/%s" % (self.host, repository, name),
                           fields={"Accept": IMAGE + ", " + INDEX})[1]["Docker-Content-Digest"]
        except urllib.error.HTTPError:
            return None

    def remove(self, ref):
        repository = ref.split(":")[0]
        request("DELETE", "http://%s/v2/%s/manifests/%s" % (self.host, repository, self.digest(ref)))

    def tags(self, repository):
        try:
            return json.loads(request("GET", "http://%s/v2/%s/tags/list" % (self.host, repository))[0])["tags"] or []
        except urllib.error.HTTPError:
            return []
