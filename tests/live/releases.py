#!/usr/bin/env python3
"""A train's images in a real registry: what was tested keeps its digest under its new name, or is tested again.

    tests/live/releases.py build/release

Starts docker-registry on loopback with a throwaway folder and ends it by its process id. Without docker-registry it skips.
"""
import hashlib, json, os, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.error, urllib.request

windlass = os.path.join(os.path.abspath(sys.argv[1]), "windlass")
registry_program = shutil.which("docker-registry")
if not registry_program:
    print("live releases: SKIPPED: no docker-registry")
    sys.exit(0)
commit, tag = "a" * 40, "v0.17.0"
images = ["kbs:", "kbs-grpc-as:", "kbs-client:sample_only-", "rvps:", "coco-as-grpc:", "coco-as-restful:"]


def request(method, url, body=None, fields=None):
    asked = urllib.request.Request(url, data=body, method=method, headers=fields or {})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return answer.read(), answer.headers


class Registry:
    def __init__(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.host = "127.0.0.1:%d" % s.getsockname()[1]
        config = os.path.join(folder, "config.yml")
        with open(config, "w") as f:
            f.write("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
                    "storage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}\nhttp: {addr: '%s'}\n"
                    % (os.path.join(folder, "data"), self.host))
        self.process = subprocess.Popen([registry_program, "serve", config], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                request("GET", "http://%s/v2/" % self.host)
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("docker-registry did not start")

    def blob(self, repository, content):
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        _, fields = request("POST", "http://%s/v2/%s/blobs/uploads/" % (self.host, repository), b"")
        place = fields["Location"]
        request("PUT", place + ("&" if "?" in place else "?") + "digest=" + digest, content,
                {"Content-Type": "application/octet-stream"})
        return {"digest": digest, "size": len(content)}

    def push(self, ref, content):
        repository, name = ref.split(":")
        config = dict(self.blob(repository, b"{}"), mediaType="application/vnd.oci.image.config.v1+json")
        layer = dict(self.blob(repository, content), mediaType="application/vnd.oci.image.layer.v1.tar")
        manifest = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                               "config": config, "layers": [layer]}).encode()
        request("PUT", "http://%s/v2/%s/manifests/%s" % (self.host, repository, name), manifest,
                {"Content-Type": "application/vnd.oci.image.manifest.v1+json"})

    def tags(self, repository):
        try:
            return json.loads(request("GET", "http://%s/v2/%s/tags/list" % (self.host, repository))[0])["tags"] or []
        except urllib.error.HTTPError:
            return []


def run(*arguments, code=0):
    ended = subprocess.run([windlass, "train", *arguments], capture_output=True, text=True, timeout=120)
    assert ended.returncode == code, (arguments, ended.returncode, ended.stdout, ended.stderr)
    return ended


folder = tempfile.mkdtemp()
registry = Registry(folder)
try:
    train, facts = os.path.join(folder, "train.yaml"), os.path.join(folder, "facts.yaml")
    with open(train, "w") as f:
        f.write("train: v1.0.0\nprojects:\n- {name: Trustee, candidate: %s}\nsuites:\n- {id: all, result: passed}\n" % commit)
    pushed = ["staged-images/" + i + commit + "-" + arch for i in images for arch in ("x86_64", "s390x")]
    pushed.append("staged-images/kbs-ita-as:" + commit + "-x86_64")
    for ref in pushed:
        registry.push(ref, ref.encode())
    repositories = sorted({ref.split(":")[0] for ref in pushed})

    def look(more=()):
        asked = [part for name in [*repositories, *more] for part in ("--image", name)]
        run("facts", facts, "--plain-http", "--registry", registry.host, *asked)
        with open(facts) as f:
            text = f.read()
        assert "source: registry " + registry.host in text and "at: " in text, text
        return text

    def promote(code=0):
        return json.loads(run("promote", train, "--facts", facts, "--project", "Trustee", "--tag", tag, "-o", "json",
                              code=code).stdout)

    look()
    answer = promote()
    assert answer["retest"] == "skipped" and len(answer["retag"]) == 13, answer
    skipped = [f for f in answer["findings"] if f["id"] == "train.retest-skipped"][0]
    assert skipped["from"].startswith("staged-images/kbs:") and skipped["to"] == "key-broker-service:built-in-as-" + tag + "-x86_64"
    print("## live releases: 13 images, a second test skipped: %s = %s" % (skipped["from"][:24], skipped["to"]))

    # The release has one of them already, with the same bytes: nothing to do for it. With others: tested again.
    registry.push("kbs-client:" + tag + "-x86_64", b"rebuilt")
    look(["kbs-client"])
    answer = promote()
    required = [f for f in answer["findings"] if f["id"] == "train.retest-required"]
    assert answer["retest"] == "required" and required[0]["subject"] == "image/kbs-client:" + tag + "-x86_64", answer
    print("## live releases: required, for " + required[0]["subject"])

    # Without one architecture nothing gets a new name.
    gone = "staged-images/rvps:" + commit + "-s390x"
    head = request("HEAD", "http://%s/v2/staged-images/rvps/manifests/%s-s390x" % (registry.host, commit),
                   fields={"Accept": "application/vnd.oci.image.manifest.v1+json"})[1]
    request("DELETE", "http://%s/v2/staged-images/rvps/manifests/%s" % (registry.host, head["Docker-Content-Digest"]))
    look()
    answer = promote(code=4)
    assert answer["retag"] == [] and answer["decision"] == "deny", answer
    assert [f["from"] for f in answer["findings"] if f["id"] == "train.partial-promotion"] == [gone], answer
    assert registry.tags("rendezvous") == [] and registry.tags("reference-value-provider-service") == []
    print("## live releases: " + gone[14:] .replace(commit, "…") + " is missing: denied, and no name was given")

    # More tags than asked for are said, not cut.
    ended = run("facts", facts, "--plain-http", "--registry", registry.host, "--image", "staged-images/kbs", "--limit", "1", code=1)
    assert "more than 1; name fewer with --filter" in ended.stderr, ended.stderr
finally:
    registry.process.send_signal(signal.SIGTERM)
    registry.process.wait(10)
    shutil.rmtree(folder, ignore_errors=True)
