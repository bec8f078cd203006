#!/usr/bin/env python3
"""A train's images in a real registry: what was tested gets its new name by its digest, or is tested again; or nothing does.

    tests/live/releases.py build/release

Starts docker-registry on loopback with a throwaway folder and ends it by its process id. Without docker-registry it skips.
"""
import json, os, shutil, subprocess, sys, tempfile

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

    # More tags than asked for are said, not cut.
    ended = run("facts", facts, "--plain-http", "--registry", registry.host, "--image", "staged-images/kbs", "--limit", "1", code=1)
    assert "more than 1; name fewer with --filter" in ended.stderr, ended.stderr
finally:
    registry.stop()
    shutil.rmtree(folder, ignore_errors=True)
