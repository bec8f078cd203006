"""trees.py N SEED FOLDER: random charts with subcharts, each with two values files in ci/, for charts.py.

Crossed here: subcharts that a list declares and that none does, lists that are empty or null, aliases, the same chart twice or in two
versions, conditions and tags, imported values, globals, nulls, libraries, definitions in crds/, templates of one name in several charts.
"""
import json
import os
import random
import sys

NAMES = ["a", "b", "c", "d"]
VERSIONS = ["1.0.0", "1.1.0", "2.0.0"]
RANGES = ["1.0.0", "1.x.x", "^1.0.0", ">=0.1.0", "2.0.0", "~1.1", "*", ""]
TEMPLATE = """{{- define "who" }}%s{{ end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: x
data:
  template: {{ .Template.Name }} {{ .Template.BasePath }}
  chart: {{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.IsRoot }} {{ include "who" . }}
  values: {{ .Values | toJson | quote }}
  below: {{ range $name, $s := .Subcharts }}{{ $name }}={{ $s.Chart.Name }}/{{ len $s.Subcharts }}/{{ $s.Values | toJson | squote }},{{ end }}
  declared: {{ range .Chart.Dependencies }}{{ .Name }}/{{ .Alias }}/{{ .Enabled }}/{{ .ImportValues | toJson | squote }},{{ end }}
"""


class Trees:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def often(self, share):
        return self.r.random() < share

    def scalar(self):
        return self.r.choice([None, None, True, False, 0, 1, "t", "", [], [1, None], {}])

    def values(self, sections, depth=0):
        """Values that name the sections below, and sometimes hit them with something else."""
        out = {}
        for key in ("x", "y", "enabled"):
            if self.often(0.5):
                out[key] = self.r.choice([True, False]) if key == "enabled" else self.table(1) if self.often(0.4) else self.scalar()
        if self.often(0.4):
            out["global"] = None if self.often(0.1) else self.table(2)
        if self.often(0.4):
            out["exports"] = {"data": self.table(2), "x": self.scalar()}
        if self.often(0.2):
            out["tags"] = {t: self.r.choice([True, False, "no"]) for t in ("front", "back") if self.often(0.6)}
        for name in sections:
            if depth < 3 and self.often(0.5):
                out[name] = self.scalar() if self.often(0.02) else self.values(NAMES[:2] if self.often(0.3) else [], depth + 1)
        return out

    def table(self, depth):
        return {k: self.table(depth - 1) if depth and self.often(0.3) else self.scalar() for k in ("x", "y", "z") if self.often(0.6)}

    def imports(self):
        return [self.r.choice(["data", "none", {"child": "x", "parent": "y"}, {"child": "global", "parent": "x.z"}, {"child": "exports.data", "parent": "."}])
                for _ in range(self.r.randint(1, 2))]

    def declared(self, children):
        """The entries of a list, mostly of charts that are there; one of them may stand there under several names."""
        out = []
        names = [name for name, _ in children]
        for name, version in children:
            # Helm reads charts/ in an order of its own: of two versions each is declared, and exactly.
            both = names.count(name) > 1
            if self.often(0.35) and not both:
                continue
            for _ in range(1 if both else self.r.choice([1, 1, 1, 2, 3])):
                d = {"name": name, "version": version if both or self.often(0.6) else self.r.choice(RANGES), "repository": ""}
                if out and out[-1]["name"] == name or self.often(0.3):
                    d["alias"] = self.r.choice(["one", "two", "three"] + NAMES)
                if self.often(0.35):
                    d["condition"] = self.r.choice([d.get("alias", name) + ".enabled", "x.enabled", "none," + name + ".enabled", "global.x"])
                if self.often(0.2):
                    d["tags"] = self.r.sample(["front", "back"], self.r.randint(1, 2))
                if self.often(0.3):
                    d["import-values"] = self.imports()
                while d.get("alias", name) in {o.get("alias", o["name"]) for o in out}:
                    d["alias"] = d.get("alias", name) + "x"
                out.append(d)
        return out

    def chart(self, folder, name, version, depth):
        children, kind = [], self.r.random()
        if depth < 3:
            for below in self.r.sample(NAMES, self.r.choice([0, 1, 1, 2, 3]) if depth else self.r.choice([1, 2, 3])):
                versions = self.r.sample(VERSIONS, 2 if kind < 0.6 and self.often(0.2) else 1)
                children += [(below, v) for v in versions]
        for child in children:
            self.chart(os.path.join(folder, "charts", "-".join(child)), *child, depth + 1)
        meta = {"apiVersion": "v2", "name": name, "version": version}
        if depth and self.often(0.08):
            meta["type"] = "library"
        sections = [c[0] for c in children]
        if kind < 0.6:
            meta["dependencies"] = self.declared(children)
            sections += [d["alias"] for d in meta["dependencies"] if "alias" in d]
        elif kind < 0.7:
            meta["dependencies"] = None
        files = {"Chart.yaml": meta, "values.yaml": self.values(sections)}
        if self.often(0.1):
            del files["values.yaml"]
        if depth == 0:
            files["ci/one.yaml"], files["ci/two.yaml"] = self.values(sections), self.values(sections)
        if self.often(0.3):
            files["crds/x.yaml"] = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}}
        for path, content in files.items():
            self.write(os.path.join(folder, path), json.dumps(content))
        self.write(os.path.join(folder, "templates", self.r.choice(["x.yaml", "y.yaml"])), TEMPLATE % (name + version))

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text + "\n")


def make(number, seed, folder):
    """The folders of the charts."""
    made = [os.path.join(folder, f"tree{seed}-{i}") for i in range(number)]
    for i, path in enumerate(made):
        Trees(f"{seed}-{i}").chart(path, "root", "1.0.0", 0)
    return made


if __name__ == "__main__":
    make(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
