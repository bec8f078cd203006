#!/usr/bin/env python3
"""A train's images in a real registry: what was tested gets its new name by its digest, or is tested again; or nothing does. A registry that
refuses or is gone in the middle leaves facts as they were, and names that a second run goes on with.

    tests/live/releases.py build/release

Starts docker-registry on loopback with a throwaway folder and ends it by its process id. Without docker-registry it skips.
"""
import http.client, http.server, json, os, re, shutil, subprocess, sys, tempfile, threading

sys.dont_write_bytecode = True
from image_registry import Registry, program

windlass = os.path.join(os.path.abspath(sys.argv[1]), "windlass")
if not program:
    print("live releases: SKIPPED: no docker-registry")
    sys.exit(77)
commit, tag = "a" * 40, "v0.17.0"
images = ["kbs:", "kbs-grpc-as:", "kbs-client:sample_only-", "rvps:", "coco-as-grpc:", "coco-as-restful:"]


def run(*arguments, code=0):
    ended = subprocess.run([windlass, "train", *arguments], capture_output=True, text=True, timeout=120)
    assert ended.returncode == code, (arguments, ended.returncode, ended.stdout, ended.stderr)
    return ended


class Failing(http.server.ThreadingHTTPServer):
    """Passes on what it is asked, until `after` requests: then it answers 401, or closes the connection."""

    def __init__(self, to, after, how):
        self.to, self.after, self.how, self.asked, self.lock = to, after, how, 0, threading.Lock()
        super().__init__(("127.0.0.1", 0), Passing)
        self.host = "127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Passing(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        with self.server.lock:
            self.server.asked += 1
            fails = self.server.asked > self.server.after
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.close_connection = True
        if fails and self.server.how == "gone":
            return
        if fails:
            self.send_response(401)
            self.end_headers()
            return
        other = http.client.HTTPConnection(self.server.to)
        other.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")})
        answer = other.getresponse()
        bytes_read = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(bytes_read)
        other.close()

    do_HEAD = do_PUT = do_POST = do_GET


folder = tempfile.mkdtemp()
registry = Registry(folder)
try:
    train, facts = os.path.join(folder, "train.yaml"), os.path.join(folder, "facts.yaml")
    def write_train(suite):
        with open(train, "w") as f:
            f.write("train: v1.0.0\nprojects:\n- {name: Trustee, candidate: %s}\nsuites:\n- {id: all, result: passed%s}\n" % (commit, suite))

    write_train("")
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

    def promote(*more, code=0):
        return json.loads(run("promote", train, "--facts", facts, "--project", "Trustee", "--tag", tag, "-o", "json", *more,
                              code=code).stdout)

    write = ("--registry", registry.host, "--plain-http", "--write")
    released = ["key-broker-service", "kbs-client", "reference-value-provider-service", "attestation-service"]

    def names():
        return {name: sorted(registry.tags(name)) for name in released if registry.tags(name)}

    look()
    due = promote(code=3)
    assert due["retest"] != "skipped", "a suite that passed for other content spares nothing"
    write_train(", contentHash: " + due["hash"])
    answer = promote()
    assert answer["retest"] == "skipped" and len(answer["retag"]) == 13, answer
    skipped = [f for f in answer["findings"] if f["id"] == "train.retest-skipped"][0]
    assert skipped["from"].startswith("staged-images/kbs:") and skipped["to"] == "key-broker-service:built-in-as-" + tag + "-x86_64"
    assert names() == {}, "who asks writes nothing"

    # Without one architecture nothing gets a new name.
    gone = "staged-images/rvps:" + commit + "-s390x"
    registry.remove(gone)
    look()
    answer = promote(*write, code=4)
    assert answer["retag"] == [] and answer["decision"] == "deny" and "named" not in answer, answer
    assert [f["from"] for f in answer["findings"] if f["id"] == "train.partial-promotion"] == [gone], answer
    assert names() == {}, names()
    print("## live releases: " + gone[14:].replace(commit, "…") + " is missing: denied, and no name was given")
    registry.push(gone, gone.encode())

    # The release has one of them already, with other bytes: tested again before anything gets a name.
    rebuilt = "kbs-client:" + tag + "-x86_64"
    registry.push(rebuilt, b"rebuilt")
    look(["kbs-client"])
    answer = promote(code=3)
    required = [f for f in answer["findings"] if f["id"] == "train.retest-required"]
    assert answer["retest"] == "required" and required[0]["subject"] == "image/" + rebuilt, answer
    ended = run("promote", train, "--facts", facts, "--project", "Trustee", "--tag", tag, *write, code=3)
    assert "nothing gets a name before it is tested again: image/" + rebuilt in ended.stderr, ended.stderr
    assert names() == {"kbs-client": [tag + "-x86_64"]}, names()
    print("## live releases: required, for " + required[0]["subject"])
    # Whoever has older facts is stopped by the registry itself: names stay where they are.
    os.unlink(facts)
    look()
    ended = run("promote", train, "--facts", facts, "--project", "Trustee", "--tag", tag, *write, code=1)
    assert rebuilt + " is sha256:" in ended.stderr and "names stay where they are" in ended.stderr, ended.stderr
    assert names() == {"kbs-client": [tag + "-x86_64"]}, names()
    registry.remove(rebuilt)

    # A tag of a candidate that moved since the facts were collected: nothing.
    moved = "staged-images/kbs:" + commit + "-s390x"
    registry.push(moved, b"built once more")
    ended = run("promote", train, "--facts", facts, "--project", "Trustee", "--tag", tag, *write, code=1)
    assert "by now, and was" in ended.stderr and names() == {}, (ended.stderr, names())
    registry.push(moved, moved.encode())

    # Every image gets its name, by the digest that was tested, and an index over its architectures.
    look()
    answer = promote(*write)
    assert answer["retest"] == "skipped" and len(answer["named"]) == 20, answer
    for row in answer["retag"]:
        assert registry.digest(row["from"]) == registry.digest(row["to"]) == row["digest"], row
    assert all(registry.digest(n["ref"].split("/", 1)[1]) == n["digest"] and n["how"] == "given" for n in answer["named"]), answer["named"]
    again = promote(*write)
    assert [n["ref"] for n in again["named"]] == [n["ref"] for n in answer["named"]], again
    assert {n["how"] for n in again["named"]} == {"there already"}, again["named"]
    look(released)
    answer = promote()
    assert answer["retest"] == "skipped" and answer["retag"] == [], answer
    print("## live releases: 13 images and 7 indexes named, a second test skipped: %s = %s" % (skipped["from"][:24], skipped["to"]))

    # A registry that refuses, or is gone, in the middle.
    with open(facts, "rb") as f:
        before = f.read()
    whole = Failing(registry.host, 10**9, "")
    run("facts", facts, "--plain-http", "--registry", whole.host, "--image", "staged-images/kbs", "--image", "staged-images/rvps")
    asked = whole.asked
    whole.shutdown()
    with open(facts, "wb") as f:
        f.write(before)
    for how in ("401", "gone"):
        for after in range(asked):
            proxy = Failing(registry.host, after, how)
            run("facts", facts, "--plain-http", "--registry", proxy.host, "--image", "staged-images/kbs", "--image", "staged-images/rvps", code=1)
            proxy.shutdown()
            with open(facts, "rb") as f:
                assert f.read() == before, "facts of a registry that failed were written"
    in_part = 0
    for number, (how, after) in enumerate([("401", 60), ("gone", 60), ("401", 90), ("gone", 120), ("401", 150)]):
        next_tag = "v0.18.%d" % number
        arguments = ("promote", train, "--facts", facts, "--project", "Trustee", "--tag", next_tag)
        proxy = Failing(registry.host, after, how)
        ended = run(*arguments, "--registry", proxy.host, "--plain-http", "--write", code=1)
        proxy.shutdown()
        said = re.search(r"\((\d+) of 20 are named\)", ended.stderr)
        there = [name for name in released for t in registry.tags(name) if next_tag in t]
        assert len(there) == 0 if said is None else len(there) - int(said[1]) in (0, 1), (there, ended.stderr)
        in_part += 0 < len(there) < 20
        ended = json.loads(run(*arguments, *write, "-o", "json").stdout)
        assert len(ended["named"]) == 20 and sum(n["how"] == "there already" for n in ended["named"]) == len(there), (there, ended["named"])
    assert in_part > 0, "no promotion ended in part"
    print("## live releases: %d facts and 5 promotions that a registry ended; %d in part, each finished by a second run" % (2 * asked, in_part))

    # More tags than asked for are said, not cut.
    ended = run("facts", facts, "--plain-http", "--registry", registry.host, "--image", "staged-images/kbs", "--limit", "1", code=1)
    assert "more than 1; name fewer with --filter" in ended.stderr, ended.stderr
finally:
    registry.stop()
    shutil.rmtree(folder, ignore_errors=True)
