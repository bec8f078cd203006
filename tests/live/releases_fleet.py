#!/usr/bin/env python3
"""Real Releases on two real API servers: home holds the Releases and is a member too, the other is its second. What `windlass plan`
said is what happens, unit by unit; a Release with one error moves nothing until it is mended; a pool that is two majors behind
waits alone; who did not opt in is never touched; a settled fleet is not written to; what was recorded is answered alike again. The kind
without status.conditions, as its own project has it, is told everything once; what consent must quote stands in the object, plan and
explain; an image that is pushed again under its name moves nothing before somebody consents.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_SECOND=F KUBEBUILDER_ASSETS=D tests/live/releases_fleet.py BUILD_FOLDER

Images are tags of a docker-registry on loopback; without docker-registry it skips. Ends with one JSON line: {"units", "moved", "held",
"untouched", "writes", "repeated", "questions", "differences"}.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import image_registry
import played
import rollout
from rollout import BUILD, ROOT
from waits import check

SECOND = os.environ["WINDLASS_LIVE_SECOND"]
NAMESPACE = "default"
shared = ROOT.parent / "shared/data/releases"
DATA = shared if shared.is_dir() else ROOT / "tests/data/releases"
PROVIDERS = {"prod-aws": "aws", "prod-azure": "azure"}
OPT_IN = {"windlass.dev/release": "cluster"}


def release(folder, version):
    return (DATA / folder / f"v{version}.yaml").read_text()


class Scene:
    def __init__(self, folder):
        self.folder = folder
        self.registry = image_registry.Registry(str(folder))
        self.members = [played.Member("prod-aws", rollout.KUBECONFIG), played.Member("prod-azure", SECOND)]
        self.home = self.members[0]
        self.digests, self.service, self.play = {}, None, played.Play()
        self.policies = folder / "policies"
        self.furnish_policies()

    def furnish_policies(self):
        """The rules of the program, with where images are fetched: that is what an operator has to edit."""
        pack = self.policies / "releases"
        shutil.copytree(ROOT / "policies/releases/default", pack)
        table = pack / "providers.lua"
        table.write_text(table.read_text().replace("name = current", f'ref = "{self.registry.host}/os/node:{{image}}", name = current'))
        for test in pack.glob("*_test.lua"):
            test.unlink()

    def windlass(self, *arguments, code=0):
        done = subprocess.run([BUILD / "windlass", *arguments], capture_output=True, text=True, timeout=120)
        if done.returncode != code:
            raise RuntimeError(f"windlass {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def image_of(self, provider, version):
        """By `release map`; pushed once, so that it is there."""
        image = json.loads(self.windlass("release", "map", provider, version, "--dir", DATA, "-o", "json"))["image"]
        if image not in self.digests:
            self.digests[image] = self.registry.push("os/node:" + image, image.encode())
        return image

    def ref(self, image):
        return f"{self.registry.host}/os/node:{image}"

    def label(self, member, value):
        self.home.kubectl("label", "--overwrite", "secret", member.name, "-n", NAMESPACE, f"release.giantswarm.io/version={value}")

    def join(self, member, value):
        config = subprocess.run([rollout.KUBECTL[0], "--kubeconfig", member.kubeconfig, "config", "view", "--raw", "--flatten"], capture_output=True, text=True, check=True).stdout
        self.home.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": member.name, "namespace": NAMESPACE, "labels": {
            "sigs.k8s.io/multicluster-runtime-kubeconfig": "true", "release.giantswarm.io/version": value, "windlass.dev/provider": PROVIDERS[member.name]}},
            "data": {"kubeconfig": base64.b64encode(config.encode()).decode()}})

    def start(self, tags_every="1s"):
        self.service = subprocess.Popen([BUILD / "windlass", "run", "--kubeconfig", self.home.kubeconfig, "--namespace", NAMESPACE, "--fleet", "secrets", "--apis", "bootc,releases",
                                         "--policies", self.policies, "--tag-resolution-interval", tags_every, "--allow-insecure-registry", self.registry.host, "--record", self.folder / "record", "--metrics-bind-address", "0",
                                         "--health-probe-bind-address", "0"], stdout=open(self.folder / "run.log", "a"), stderr=subprocess.STDOUT)

    def stop(self):
        self.service.terminate()
        if self.service.wait(10):
            raise RuntimeError(f"windlass run ended with {self.service.returncode} after SIGTERM")
        self.service = None

    def plan(self):
        """Of each pool that follows a Release: the row, what is said of it, and why it waits."""
        said = json.loads(self.windlass("plan", "-o", "json", "--kubeconfig", self.home.kubeconfig, "--namespace", NAMESPACE, "--fleet", "secrets", "--apis", "releases",
                                        "--policies", self.policies, "--in-force", self.policies))
        units = {}
        for cluster in said["clusters"]:
            for row in cluster["releases"]:
                holds = {h["unit"]: h for h in row["holds"]}
                for unit in row.get("units", []):
                    units[cluster["name"], unit["name"]] = unit | {"hold": holds.get(unit["name"])}
        return units

    def until(self, true, what, limit=60):
        end = time.monotonic() + limit
        while not true():
            if self.play.problem or time.monotonic() > end:
                raise RuntimeError(f"{what}: not within {limit} s ({self.play.problem})")
            time.sleep(0.2)

    def conditions(self, name):
        """Of a Release, and where they are: in its status, or in an annotation."""
        found = json.loads(self.home.kubectl("get", "release", name, "-o", "json"))
        kept = found["metadata"].get("annotations", {}).get("windlass.dev/release-conditions")
        if kept is not None:
            return json.loads(kept), "annotation"
        return found.get("status", {}).get("conditions", []), "status"

    def condition(self, name, kind):
        return next((f"{c['status']} {c['reason']} {c['message']}" for c in self.conditions(name)[0] if c["type"] == kind), "none")

    def told(self):
        """How often each Event about a Release was told."""
        said = {}
        for e in json.loads(self.home.kubectl("get", "events.events.k8s.io", "-A", "-o", "json"))["items"]:
            if e["regarding"]["kind"] == "Release":
                key = e["regarding"]["name"], e["reason"]
                said[key] = said.get(key, 0) + (e.get("series") or {}).get("count", 1)
        return said

    def at_home(self, *arguments, code=0):
        """A command that looks at the fleet, or acts on it."""
        return self.windlass(*arguments, "--kubeconfig", self.home.kubeconfig, "--namespace", NAMESPACE, "--fleet", "secrets", code=code)

    def booted(self, machine):
        return (machine.folder / "booted").read_text().strip().split("@")[1]

    def settled(self, member, image, digest=None):
        pool = member.pool("workers")
        status = pool.get("status", {})
        up = rollout.condition(pool, "UpToDate")
        return (pool["spec"]["image"]["ref"] == self.ref(image) and status.get("targetDigest") == (digest or self.digests[image]) and up[0] == "True"
                and status.get("observedGeneration") == pool["metadata"]["generation"])


def kind_without_conditions(s):
    """As its own project has it: an API server drops what the schema does not name."""
    status = "/spec/versions/0/schema/openAPIV3Schema/properties/status"
    s.home.kubectl("patch", "crd", "releases.release.giantswarm.io", "--type=json", "-p", json.dumps([
        {"op": "remove", "path": status + "/properties/conditions"}, {"op": "add", "path": status + "/required", "value": ["inUse", "ready"]}]))


def tells_once(s, settled):
    """On the kind without conditions they are kept in an annotation, and another start tells nothing again; the whole kind takes them over."""
    def all_in(place):
        return all(s.conditions(name)[1] == place and s.condition(name, "Allowed") != "none" for name in ("aws-34.4.1", "azure-34.4.0", "aws-32.4.0"))
    s.until(lambda: all_in("annotation"), "conditions are in an annotation")
    shown = json.loads(s.home.kubectl("get", "release", "aws-34.4.1", "-o", "json"))["status"]
    check(shown == {"ready": True, "inUse": True}, f"the status is {shown}")
    s.until(lambda: any(name == "aws-32.4.0" for name, _ in s.told()), "Events of Releases")
    time.sleep(3)
    told = s.told()
    for whole in (False, True):
        s.stop()
        if whole:
            s.home.apply((ROOT / "deploy/crds/releases.yaml").read_text())
            time.sleep(2)
        s.start()
        s.until(settled, "settled again")
        s.until(lambda: all_in("status" if whole else "annotation"), "conditions are where the kind has room for them")
        time.sleep(5)
        again = s.told()
        check(again == told, f"another start told {set(again.items()) - set(told.items())} again")
    return sum(again.values()) - sum(told.values())


def consent_has_its_hash(s, bad):
    """What a waiver must quote stands in the object, the plan and the explanation; a waiver that names nothing is told."""
    folder = s.folder / "bad" / "azure" / "v34.5.0"
    folder.mkdir(parents=True)
    (folder / "release.yaml").write_text(bad)
    quoted = json.loads(s.windlass("release", "show", "azure", "34.5.0", "--dir", s.folder / "bad", "-o", "json"))["hash"]
    check(len(quoted) == 64, quoted)
    waiver = "- {rule: component.duplicate, subject: component/kubernetes, release: azure-34.5, hash: %s, reason: a test}" % quoted
    s.home.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "windlass-releases", "namespace": NAMESPACE}, "data": {"waivers.yaml": waiver}})
    s.until(lambda: "there is no Release 'azure-34.5'; is it 'azure-34.5.0'?" in s.condition("azure-34.5.0", "Allowed"), "consent that names no Release is told")
    check(quoted in s.condition("azure-34.5.0", "Allowed"), s.condition("azure-34.5.0", "Allowed"))
    s.home.kubectl("delete", "configmap", "windlass-releases", "-n", NAMESPACE)
    return quoted


def pushed_again(s, member, image):
    """The tag names another digest by now: nothing moves, and a person is told; consent moves it."""
    machine = next(m for m in s.play.machines if m.member is member)
    before, boots, allowed = member.pool("workers")["metadata"]["generation"], machine.boots, s.digests[image]
    other = s.registry.push("os/node:" + image, b"built once more")
    check(other != allowed, "the same bytes")
    def hold():
        return (s.plan()[member.name, "workers"]["hold"] or {"code": "", "reason": ""})
    s.until(lambda: hold()["code"] == "release-image-moved", "an image that was pushed again holds its pool")
    check(other in hold()["reason"] and allowed in hold()["reason"], hold()["reason"])
    time.sleep(5)
    check(member.pool("workers")["metadata"]["generation"] == before and machine.boots == boots and s.booted(machine) == allowed, "it moved on its own")
    s.at_home("rollout", "approve", "workers", "--cluster", member.name, "--yes", "--apis", "bootc")
    s.until(lambda: s.booted(machine) == other, "who consents moves", 90)
    s.until(lambda: s.settled(member, image, other) and hold()["code"] == "", "nothing is held any more", 90)
    return other


def run(s):
    began = time.monotonic()
    total = {"units": 0, "moved": 0, "held": 0, "untouched": 0, "writes": 0, "repeated": 0, "questions": 0, "differences": 0}
    folders, steps = {"aws": "capa", "azure": "azure"}, {"aws": ("34.4.1", "34.5.0"), "azure": ("34.4.0", "34.5.0")}
    images = {p: [s.image_of(p, v) for v in both] for p, both in steps.items()}
    ancient = s.image_of("aws", "32.4.0")
    for m in s.members:
        for kind in ("bootcnodepools", "bootcnodes", "bootcoperatorconfigs", "releases"):
            m.apply((ROOT / f"deploy/crds/{kind}.yaml").read_text())
        m.kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "crd/bootcnodes.node.bootc.dev", "crd/releases.release.giantswarm.io", "--timeout=30s")
    kind_without_conditions(s)
    for p, both in steps.items():
        for version in both:
            s.home.apply(release(folders[p], version))
    s.home.apply(release("capa", "32.4.0"))
    for m in s.members:
        old = images[PROVIDERS[m.name]][0]
        m.make_node({"releases": "workers"}, f"boot-{m.name}")
        m.make_pool("workers", s.ref(old), {"releases": "workers"}, OPT_IN)
        s.join(m, steps[PROVIDERS[m.name]][0])
        s.play.machines.append(played.Machine(m, s.folder / m.name, f"{s.registry.host}/os/node@{s.digests[old]}"))
    aws, azure = s.members
    aws.make_pool("ancient", s.ref(ancient), {"releases": "ancient"}, OPT_IN)  # two majors behind: it alone cannot go
    azure.make_pool("own", s.ref(images["azure"][0]), {"releases": "own"})  # nobody opted in
    s.play.thread.start()
    s.start()
    for m in s.members:
        s.until(lambda m=m: s.settled(m, images[PROVIDERS[m.name]][0]), f"{m.name} has what its label says")
    total["repeated"] = tells_once(s, lambda: all(s.settled(m, images[PROVIDERS[m.name]][0]) for m in s.members))
    print(f"live releases: two clusters have what their labels say after {time.monotonic() - began:.0f} s")

    # What a person sees.
    s.until(lambda: s.condition("aws-34.5.0", "Allowed").startswith("True Clean"), "aws-34.5.0 is allowed")
    check(s.condition("aws-34.5.0", "Mapped") == f"True Named {images['aws'][1]} (rule T1)", s.condition("aws-34.5.0", "Mapped"))
    shown = s.home.kubectl("get", "releases").splitlines()
    for column in ("KUBERNETES VERSION", "FLATCAR VERSION", "AGE", "STATE", "RELEASE NOTES"):
        check(column in shown[0], f"kubectl get releases has no column {column}:\n{shown[0]}")
    row = next(line for line in shown if line.startswith("aws-34.5.0")).split()
    check(row[1:3] == ["1.34.10", "4593.2.4"] and row[4:6] == ["active", "True"], f"kubectl get releases says {row}")
    check(len(s.home.kubectl("get", "common", "-o", "name").splitlines()) >= 5, "the category common has no Releases")

    # One error: a component that is there twice. Both clusters shall move.
    bad = release("azure", "34.5.0").replace("  components:\n", "  components:\n  - {name: kubernetes, version: 1.34.10, catalog: cluster}\n", 1)
    s.home.apply(bad)
    s.until(lambda: s.condition("azure-34.5.0", "Allowed").startswith("False Denied component.duplicate"), "azure-34.5.0 is denied")
    quoted = consent_has_its_hash(s, bad)
    s.stop()
    for m in s.members:
        s.label(m, steps[PROVIDERS[m.name]][1])
    before = {(m.name, p): m.pool(p) for m in s.members for p in ("workers", "ancient" if m is aws else "own")}
    said = s.plan()
    total["units"] = len(said)
    check(set(said) == {("prod-aws", "workers"), ("prod-aws", "ancient"), ("prod-azure", "workers")}, f"the plan is about {sorted(said)}")
    first = said["prod-aws", "workers"]
    check(first["state"] == "Due" and first["rolls"] == "yes" and first["targetRef"] == s.ref(images["aws"][1]), f"the plan says {first}")
    check(first["step"] == f"{images['aws'][0]} → {images['aws'][1]}, rolls nodes", first["step"])
    for who, word in ((("prod-aws", "ancient"), "k8s.minor-skip"), (("prod-azure", "workers"), "component.duplicate")):
        hold = said[who]["hold"]
        check(hold and hold["code"] == "release-denied" and word in hold["reason"], f"{who} has no hold for {word}: {said[who]}")

    check(quoted in json.dumps(said["prod-azure", "workers"]), f"the plan does not say the hash: {said['prod-azure', 'workers']}")
    explained = s.at_home("explain", "prod-azure/workers", "--apis", "releases", "--policies", s.policies, "-o", "json")
    check(quoted in explained, f"explain does not say the hash: {explained}")

    s.start()
    s.until(lambda: s.settled(aws, images["aws"][1]), "prod-aws has the new Release", 90)
    again = s.plan()
    for (cluster, name), unit in said.items():
        member = aws if cluster == aws.name else azure
        was, now = before[cluster, name], member.pool(name)
        moves = unit["state"] == "Due"
        check(now["spec"]["image"]["ref"] == unit["targetRef" if moves else "ref"], f"{cluster}/{name}: the plan said {unit}, it is {now['spec']}")
        check(now["metadata"]["generation"] == was["metadata"]["generation"] + moves, f"{cluster}/{name}: written {now['metadata']['generation'] - was['metadata']['generation']} times")
        check(again[cluster, name]["state"] == ("Arrived" if moves else "Held"), f"{cluster}/{name}: {again[cluster, name]}")
        if moves:
            check(now["metadata"]["annotations"]["windlass.dev/release-at"] == unit["toRelease"], str(now["metadata"]["annotations"]))
            writers = [f["manager"] for f in now["metadata"]["managedFields"] if "f:ref" in f.get("fieldsV1", {}).get("f:spec", {}).get("f:image", {})]
            check("windlass-releases" in writers, f"spec.image.ref was written by {writers}")
            total["moved"] += 1
        else:
            check(again[cluster, name]["hold"]["code"] == unit["hold"]["code"], f"{cluster}/{name}: {again[cluster, name]['hold']}")
            total["held"] += 1
    check(s.booted(s.play.machines[0]) == s.digests[images["aws"][1]], f"the host runs {s.booted(s.play.machines[0])}")
    check(s.booted(s.play.machines[1]) == s.digests[images["azure"][0]] and s.play.machines[1].boots == 0, "a Release with an error moved a host")
    print(f"live releases: plan and fact agree on {len(said)} units; one error moved nothing ({time.monotonic() - began:.0f} s)")

    # It is mended, and then it moves.
    s.home.apply(release("azure", "34.5.0"))
    s.until(lambda: s.settled(azure, images["azure"][1]), "prod-azure has the new Release", 90)
    check(s.booted(s.play.machines[1]) == s.digests[images["azure"][1]] and s.play.machines[1].boots == 1, "the host of prod-azure did not boot it once")
    total["moved"] += 1
    total["held"] -= 1
    own = azure.pool("own")
    check(own["metadata"]["generation"] == before["prod-azure", "own"]["metadata"]["generation"] and "windlass.dev/release-at" not in own["metadata"].get("annotations", {}),
          "a pool that did not opt in was touched")
    total["untouched"] = 1

    # Both Releases have one image: who consents moves, alone.
    other = pushed_again(s, aws, images["aws"][1])
    check(images["aws"][1] == images["azure"][1] and s.booted(s.play.machines[1]) == s.digests[images["azure"][1]], "the other cluster moved with it")
    check(s.plan()["prod-azure", "workers"]["hold"]["code"] == "release-image-moved", "the other cluster is not held")
    print(f"live releases: an image that was pushed again moved nothing before consent ({time.monotonic() - began:.0f} s)")

    # Each look at a tag notes when the next one is due.
    s.stop()
    s.start("1h")
    s.until(lambda: s.settled(aws, images["aws"][1], other) and s.settled(azure, images["azure"][1]), "settled again")
    time.sleep(5)

    # A settled fleet is not written to: not its pools, not the Releases, not the Secrets.
    def versions():
        seen = {}
        for m in s.members:
            for kind in ("bootcnodepools", "releases", "secrets"):
                for o in json.loads(m.kubectl("get", kind, "-o", "json"))["items"]:
                    seen[m.name, kind, o["metadata"]["name"]] = o["metadata"]["resourceVersion"]
        return seen
    at_rest = versions()
    time.sleep(8)
    total["writes"] = sum(v != at_rest[k] for k, v in versions().items())
    check(total["writes"] == 0, f"{total['writes']} objects were written to at rest")
    s.stop()
    replayed = json.loads(s.windlass("policy", "replay", s.policies, "--record", s.folder / "record", "-o", "json"))
    total["questions"], total["differences"] = replayed["questions"], replayed["differences"]
    check(replayed["questions"] > 0 and replayed["differences"] == 0, f"the record is answered otherwise: {replayed}")
    print(f"live releases: done after {time.monotonic() - began:.0f} s")
    return total


def main():
    if not image_registry.program:
        print("live releases: SKIPPED: no docker-registry")
        return 77
    folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-"))
    scene, total, problem = None, {}, None
    try:
        scene = Scene(folder)
        total = run(scene)
    except Exception as why:  # noqa: BLE001  what a person needs is the logs
        problem = why
    finally:
        if scene:
            scene.play.end()
            if scene.service:
                scene.service.kill()
                scene.service.wait()
            scene.registry.stop()
            if problem:
                for log in sorted(folder.glob("*.log")):
                    print(f"--- {log.name}\n" + "".join(log.read_text().splitlines(keepends=True)[-15:]))
            for m in scene.members:
                m.forget()
            scene.home.kubectl("delete", "crd", "releases.release.giantswarm.io", "--ignore-not-found", "--wait=false")
            scene.home.kubectl("delete", "secret", "-n", NAMESPACE, "--ignore-not-found", *[m.name for m in scene.members])
        shutil.rmtree(folder, ignore_errors=True)
    if problem:
        print("live releases: FAILED:", problem)
    print("##", json.dumps(total))
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
