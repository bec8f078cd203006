"""generate_objects.py COUNT SEED: three states of made-up objects of built-in kinds, one question a line for objects/main.go.

Objects follow the tables of k8s/merge/merge_schema_table.cpp, so every type and every kind of list occurs; scalars have made-up
names, since merging does not look at them. A manifest becomes the next one, and the live object, by random edits.
"""
import copy
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def tables():
    text = open(HERE + "/../../../k8s/merge/merge_schema_table.cpp").read()
    parts = [part.split(')table"')[0] for part in text.split('R"table(')[1:]]
    out = []
    for part in parts:
        lines = []
        for line in part.strip("\n").split("\n"):
            if line.startswith(" "):
                lines[-1] += " " + line.strip()
            else:
                lines.append(line)
        out.append([line.split() for line in lines])
    kinds = {}
    for words in out[0]:
        for word in words[1:]:
            kind, _, name = word.partition("=")
            kinds[words[0] + " " + kind] = name or kind
    types = {}
    for words in out[1]:
        fields = []
        for word in words[1:]:
            word, _, to = word.partition("=")
            fields.append((word.rstrip("]^!%").split("[")[0], word, to))
        types[words[0]] = fields
    return kinds, types


KINDS, TYPES = tables()
FAVOURITES = ["apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "v1 Pod", "v1 Service", "batch/v1 CronJob", "v1 ServiceAccount", "v1 ConfigMap",
              "policy/v1 PodDisruptionBudget", "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "apiextensions.k8s.io/v1 CustomResourceDefinition",
              "networking.k8s.io/v1 Ingress", "rbac.authorization.k8s.io/v1 ClusterRole"]
WEIGHT = {"template", "spec", "containers", "metadata", "volumes", "env", "ports", "jobTemplate", "strategy", "selector", "webhooks", "initContainers"}


class Maker:
    def __init__(self, r):
        self.r = r
        self.odd = r.random() < 0.12  # sometimes wrong shapes, which must fail alike

    def scalar(self):
        r = self.r
        return r.choice(["a", "b", "x y", "", 0, 1, 80, -3, 0.5, True, False, "v1"])

    def key(self, name):
        if name in ("port", "containerPort"):
            return self.r.choice([80, 81, 443, 53])
        return self.r.choice(["a", "b", "c", "d", "10", "9"])

    def map(self):
        r = self.r
        out = {r.choice("klmnop"): self.r.choice(["1", "2", "3"]) for _ in range(r.randrange(4))}
        if self.odd and r.random() < 0.1:
            out["deep"] = {"q": self.scalar()}
        return out

    def plain_list(self):
        r = self.r
        if r.random() < 0.5:
            return [r.choice(["a", "b", "c"]) for _ in range(r.randrange(4))]
        return [{"s": self.scalar(), "t": [self.scalar()]} for _ in range(r.randrange(3))]

    def element(self, key, to, depth):
        out = self.object(to, depth + 1) if to else {"s": self.scalar()}
        out[key] = self.key(key)
        if self.odd and self.r.random() < 0.05:
            del out[key]
        return out

    def value(self, word, to, depth):
        r = self.r
        if "[" in word:
            inside = word[word.index("[") + 1:word.index("]")]
            if not inside:
                return self.plain_list()
            if inside == "+":
                # Not repeated: where repetitions end depends on spare room in Go's slices.
                return r.sample(["a", "b", "c", "d"], r.randrange(4))
            key = inside[1:]
            if self.odd and r.random() < 0.03:
                return [1, {"a": 1}]
            out, seen = [], set()
            for _ in range(r.randrange(4)):
                e = self.element(key, to, depth)
                k = e.get(key)
                # Repeated keys are wrong but seen, ports of two protocols for one.
                if k in seen and r.random() < 0.9:
                    continue
                seen.add(k)
                out.append(e)
            return out
        if word.endswith("%"):
            return self.map()
        return self.object(to, depth + 1)

    def object(self, name, depth=0):
        r = self.r
        out = {}
        for field, word, to in TYPES.get(name, []):
            chance = 0.8 if field in WEIGHT else 0.25 if depth < 4 else 0.08
            if depth > 9 or r.random() > chance:
                continue
            out[field] = self.value(word, to, depth)
        for s in ("s1", "s2", "s3"):
            if r.random() < 0.3:
                out[s] = self.scalar()
        if self.odd and r.random() < 0.02:
            out["unknown"] = {"u": self.scalar()}
        if r.random() < 0.02:
            out["nothing"] = None
        return out

    def edit(self, v, name, depth, much):
        """A changed copy of an object of type `name`."""
        r = self.r
        out = {}
        fields = {f: (w, t) for f, w, t in TYPES.get(name, [])}
        for k, old in v.items():
            chance = r.random()
            if chance < 0.10 * much:
                continue
            if k in fields:
                word, to = fields[k]
                if chance < 0.18 * much:
                    out[k] = self.value(word, to, depth)
                elif isinstance(old, dict) and to and "[" not in word:
                    out[k] = self.edit(old, to, depth + 1, much)
                elif isinstance(old, dict):
                    out[k] = dict(old, **self.map()) if chance < 0.5 * much else copy.deepcopy(old)
                elif isinstance(old, list) and "[+" in word:
                    key = word[word.index("[+") + 2:word.index("]")]
                    out[k] = self.edit_list(old, key, to, word, depth, much)
                else:
                    out[k] = copy.deepcopy(old)
            else:
                out[k] = self.scalar() if chance < 0.3 * much else old
        for field, word, to in TYPES.get(name, []):
            if field not in out and r.random() < 0.05 * much and depth < 8:
                out[field] = self.value(word, to, depth)
        return out

    def edit_list(self, old, key, to, word, depth, much):
        r = self.r
        out = []
        for e in old:
            chance = r.random()
            if chance < 0.12 * much:
                continue
            if key and to and isinstance(e, dict) and chance < 0.6 * much:
                changed = self.edit({k: v for k, v in e.items() if k != key}, to, depth + 1, much)
                if key in e:
                    changed[key] = e[key]
                out.append(changed)
            else:
                out.append(copy.deepcopy(e))
        if r.random() < 0.25 * much:
            new = self.value(word, to, depth)
            have = [e.get(key) if isinstance(e, dict) else e for e in out]
            out += [e for e in new if (e.get(key) if isinstance(e, dict) else e) not in have]
        if r.random() < 0.2 * much:
            r.shuffle(out)
        return out


def question(r):
    kind = r.choice(FAVOURITES) if r.random() < 0.7 else r.choice(sorted(KINDS))
    m = Maker(r)
    before = m.object(KINDS[kind])
    after = m.edit(before, KINDS[kind], 0, r.choice([0, 0.3, 1, 1.5]))
    live = m.edit(r.choice([before, before, after]), KINDS[kind], 0, r.choice([0, 0.3, 1]))
    for o in (before, after, live):
        o["apiVersion"], o["kind"] = kind.split(" ")
        meta = o.get("metadata")
        if isinstance(meta, dict):
            meta["name"] = "n"
    return {"kind": "json" if r.random() < 0.1 else "strategic", "type": kind, "before": before, "after": after, "live": live}


def main():
    r = random.Random(int(sys.argv[2]))
    for _ in range(int(sys.argv[1])):
        print(json.dumps(question(r)))


main()
