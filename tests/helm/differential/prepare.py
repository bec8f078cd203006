"""prepare.py [--git FORMAT] DEST: puts open charts, complete with what they depend on, into DEST (one folder per chart).

FORMAT names the repositories, e.g. "/mirrors/{owner}/{name}.git"; by default they are cloned from GitHub. Charts are the projects' own;
where a project assembles its chart when it releases (cert-manager, external-secrets), the same is done here. A dependency is taken from
these repositories too; one that is in none of them is taken out of Chart.yaml (in the log), because Helm refuses a chart without it.
"""
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

arguments = sys.argv[1:]
pattern = "https://github.com/{owner}/{name}"
if "--git" in arguments:
    at = arguments.index("--git")
    pattern = arguments[at + 1]
    del arguments[at:at + 2]
dest = os.path.abspath(os.path.expanduser(arguments[0] if arguments else "~/.cache/windlass/charts"))

CERT_MANAGER = ["v1.15.5", "v1.16.5", "v1.17.4", "v1.18.6", "v1.19.6", "v1.20.3"]
BITNAMI = "common nginx redis postgresql mysql mariadb mongodb etcd kafka keycloak wordpress memcached".split()
# repository, folder in it ("*": each chart there), charts that are only dependencies
SOURCES = [
    ("kubernetes/ingress-nginx", "charts", None),
    ("external-secrets/external-secrets", "deploy/charts", None),
    ("prometheus-community/helm-charts", "charts", None),
    ("argoproj/argo-helm", "charts", None),
    ("bitnami/charts", "bitnami", BITNAMI),
    ("grafana/helm-charts", "charts", ["promtail", "loki-distributed", "tempo-distributed", "rollout-operator"]),
    ("grafana-community/helm-charts", "charts", ["grafana"]),
    ("open-telemetry/opentelemetry-helm-charts", "charts", ["opentelemetry-operator", "opentelemetry-collector"]),
    ("DandyDeveloper/charts", "charts", ["redis-ha"]),
]

clones = {}
scratch = tempfile.mkdtemp()


def git_dir(repository, tags=()):
    if repository not in clones:
        owner, name = repository.split("/")
        place = pattern.format(owner=owner, name=name)
        if not os.path.isdir(place):
            folder = os.path.join(scratch, owner + "+" + name)
            subprocess.run(["git", "clone", "-q", "--bare", "--depth", "1", place, folder], check=True)
            for tag in tags:
                subprocess.run(["git", "--git-dir", folder, "fetch", "-q", "--depth", "1", place, f"refs/tags/{tag}:refs/tags/{tag}"], check=True)
            place = folder
        clones[repository] = place
    return clones[repository]


def export(repository, revision, folder, into, tags=()):
    """The tree `folder` of a revision as files below `into`; False when it is not there."""
    done = subprocess.run(["git", "--git-dir", git_dir(repository, tags), "archive", f"{revision}:{folder}"], capture_output=True)
    if done.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        tar.extractall(into, filter="data")
    return True


def listing(repository, folder):
    names = subprocess.run(["git", "--git-dir", git_dir(repository), "ls-tree", "--name-only", "HEAD", folder + "/"],
                           capture_output=True, text=True, check=True).stdout.split()
    return [os.path.basename(n) for n in names]


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)


def cert_manager(version):
    into = os.path.join(dest, "cert-manager-" + version)
    repository = "cert-manager/cert-manager"
    if not export(repository, version, "deploy/charts/cert-manager", into, CERT_MANAGER):
        return print(f"cert-manager {version}: not in the repository")
    chart = read(os.path.join(into, "Chart.template.yaml"))
    chart = re.sub(r"(?m)^version: .*$", "version: " + version, chart)
    chart = re.sub(r"(?m)^appVersion: .*$", "appVersion: " + version, chart).replace("{{IS_PRERELEASE}}", "false")
    write(os.path.join(into, "Chart.yaml"), chart)
    templates = os.path.join(into, "templates")
    if not any(name.startswith("crd") for name in os.listdir(templates)):
        crds = os.path.join(scratch, "crds")
        shutil.rmtree(crds, ignore_errors=True)
        export(repository, version, "deploy/crds", crds)
        parts = [read(os.path.join(crds, n)) for n in sorted(os.listdir(crds)) if n.endswith(".yaml")]
        write(os.path.join(templates, "crds.yaml"), "---\n".join(p if p.endswith("\n") else p + "\n" for p in parts))


def external_secrets(into):
    done = subprocess.run(["git", "--git-dir", git_dir("external-secrets/external-secrets"), "show", "HEAD:deploy/crds/bundle.yaml"],
                          capture_output=True, text=True, check=True)
    for document in re.split(r"(?m)^---\n", done.stdout):
        name = re.search(r"(?m)^    singular: (\S+)$", document)
        if name:
            text = document.replace("{{", "{{`{{`}}")
            write(os.path.join(into, "templates", "crds", name[1] + ".yaml"), "{{- if .Values.installCRDs }}\n" + text + "{{- end }}\n")


def dependencies(chart):
    """(name, whole entry) of each dependency in Chart.yaml."""
    block = re.search(r"(?m)^dependencies:\n((?:[ -][^\n]*\n?|\n|#[^\n]*\n)*)", read(os.path.join(chart, "Chart.yaml")))
    if not block:
        return []
    entries = re.split(r"(?m)^(?=\s*- )", block[1])
    return [(m[1].strip("\"'"), e) for e in entries if (m := re.search(r"(?m)^[\s-]*name: *(\S+)", e))]


def complete(chart, pool):
    for name, entry in dependencies(chart):
        into = os.path.join(chart, "charts", name)
        if os.path.isdir(into) or re.search(r"repository: *[\"']?(file://|$)", entry):
            continue
        if name in pool:
            shutil.copytree(pool[name], into)
            shutil.rmtree(os.path.join(into, "ci"), ignore_errors=True)
            complete(into, pool)
            continue
        print(f"{os.path.basename(chart)}: taken out {name}, which is in none of the repositories")
        path = os.path.join(chart, "Chart.yaml")
        text = read(path).replace(entry, "")
        write(path, re.sub(r"(?m)^dependencies:\n(?![ -])", "", text))
    for lock in ("Chart.lock", "requirements.lock"):
        if os.path.exists(os.path.join(chart, lock)):
            os.remove(os.path.join(chart, lock))


shutil.rmtree(dest, ignore_errors=True)
os.makedirs(dest)
for version in CERT_MANAGER:
    cert_manager(version)
pool = {}
for repository, folder, wanted in SOURCES:
    for name in listing(repository, folder):
        into = os.path.join(dest, name)
        if (wanted is not None and name not in wanted) or os.path.exists(into):
            continue
        if export(repository, "HEAD", f"{folder}/{name}", into) and os.path.exists(os.path.join(into, "Chart.yaml")):
            pool[name] = into
        else:
            shutil.rmtree(into, ignore_errors=True)
external_secrets(pool["external-secrets"])
for name in sorted(pool, key=lambda n: len(dependencies(pool[n]))):
    complete(pool[name], pool)
shutil.rmtree(scratch)
print(f"{len(os.listdir(dest))} charts in {dest}")
