#!/usr/bin/env python3
"""Every flag of Helm's verbs that reach a cluster, and every global flag and variable, each with a case against a real API server:
`windlass helm` and the stock `helm` do the same in namespaces of their own, print the same and end the same.

    tests/helm/commands/flags_beside_helm.py BUILD_FOLDER

Fails as well when a flag that docs/helm.md calls `works` has no case. Skipped without the server or the stock helm.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

WINDLASS = str(pathlib.Path(sys.argv[1]).resolve() / "windlass")
HELM = os.environ.get("HELM") or next((str(p) for p in [pathlib.Path.home() / "go/bin/helm"] if p.exists()), None) or shutil.which("helm")
KUBECONFIG = os.environ.get("WINDLASS_LIVE_KUBECONFIG")
KUBECTL = os.environ.get("KUBEBUILDER_ASSETS", "") + "/kubectl"
if not (HELM and KUBECONFIG and os.path.exists(KUBECTL)):
    print("SKIPPED: no stock helm or no API server")
    sys.exit(77)

work = pathlib.Path(tempfile.mkdtemp())
chart = work / "c"
for name, text in {
    "Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\nappVersion: v1\n",
    "values.yaml": "a: one\nb: {c: two}\nlist: [1]\n",
    "values.schema.json": '{"properties": {"a": {"type": "string"}}}',
    "crds/x.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: flags.flags.test}\nspec: {group: flags.test, names: {kind: Flag, plural: flags}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n",
    "templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata:\n  all: {{ .Values | toJson | quote }}\n  found: {{ (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"kube-root-ca.crt\").kind | quote }}\n",
    "templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ .Release.Name }}'}\nstringData: {k: '{{ .Values.a }}'}\n",
    "templates/NOTES.txt": "{{ .Release.Name }} is there\n",
    "templates/hook.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-hook', annotations: {helm.sh/hook: 'pre-install,pre-upgrade,pre-rollback,pre-delete'}}\n",
    "templates/tests/t.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-test', annotations: {helm.sh/hook: test}}\n",
}.items():
    (chart / name).parent.mkdir(parents=True, exist_ok=True)
    (chart / name).write_text(text)
(work / "v.yaml").write_text("b: {c: file}\n")
(work / "k.txt").write_text("of a file")
post = work / "post"
post.write_text("#!/bin/sh\nsed \"s/one/${1:-posted}/\"\n")
post.chmod(0o755)
config = pathlib.Path(KUBECONFIG).read_text()
SERVER, TOKEN = (re.search(key + r': "([^"]+)"', config).group(1) for key in ("server", "token"))
CA = re.search(r'certificate-authority: "([^"]+)"', config).group(1)
two_text = config.replace("contexts: [", "contexts: [{name: second, context: {cluster: live, user: admin, namespace: NS}}, ")

C, V = str(chart), str(work / "v.yaml")
VALUES = {"set": "--set a=x,b.c=y", "set-string": "--set-string a=1", "set-file": f"--set-file a={work}/k.txt", "set-json": """--set-json 'b={"d":1}'""",
          "set-literal": "--set-literal 'a=x,y'", "values": f"-f {V}"}
RELEASE = {"atomic": "--atomic --timeout 30s", "description": "--description words", "dry-run": "--dry-run=server", "force": "--force", "hide-notes": "--hide-notes",
           "hide-secret": "--dry-run=client --hide-secret", "labels": "-l a=b,c=d", "no-hooks": "--no-hooks", "output": "-o json", "post-renderer": f"--post-renderer {post}",
           "post-renderer-args": f"--post-renderer {post} --post-renderer-args more", "render-subchart-notes": "--render-subchart-notes",
           "skip-crds": "--skip-crds", "skip-schema-validation": "--set a=null --skip-schema-validation", "take-ownership": "--take-ownership", "timeout": "--timeout 9s",
           "wait": "--wait --timeout 30s", "wait-for-jobs": "--wait --wait-for-jobs --timeout 30s", "create-namespace": "--create-namespace"}
# Of where a chart comes from: the chart is a folder here, so that they are read and the folder counts. Repositories and registries have
# tests of their own (helm_sources_tests, beside_helm.py).
PLACE = {"ca-file": f"--ca-file {CA}", "cert-file": "", "key-file": "", "insecure-skip-tls-verify": "--insecure-skip-tls-verify", "keyring": f"--keyring {work}/none",
         "pass-credentials": "--pass-credentials", "password": "--username u --password p", "username": "--username u --password p", "plain-http": "--plain-http",
         "repo": "--repo http://127.0.0.1:1", "verify": f"--verify --keyring {work}/none", "version": "--version 9", "devel": "--devel"}
OURS = {"server-side"}  # Helm 3 has no such flag
CASES = {
    "install": {**VALUES, **RELEASE, **PLACE, "generate-name": "", "name-template": "", "replace": "--replace"},
    "upgrade": {**VALUES, **RELEASE, **PLACE, "install": "-i", "cleanup-on-fail": "--cleanup-on-fail", "history-max": "--history-max 1", "reset-values": "--reset-values",
                "reuse-values": "--reuse-values --set list=null", "reset-then-reuse-values": "--reset-then-reuse-values"},
    "rollback": {"cleanup-on-fail": "--cleanup-on-fail", "dry-run": "--dry-run", "force": "--force", "history-max": "--history-max 2", "no-hooks": "--no-hooks",
                 "timeout": "--timeout 9s", "wait": "--wait", "wait-for-jobs": "--wait --wait-for-jobs"},
    "uninstall": {"cascade": "--cascade orphan", "description": "--description words --keep-history", "dry-run": "--dry-run", "ignore-not-found": "--ignore-not-found gone",
                  "keep-history": "--keep-history", "no-hooks": "--no-hooks", "timeout": "--timeout 9s", "wait": "--wait"},
    "list": {"all": "-a", "all-namespaces": "-A -f '^rel$' -q", "date": "-d", "deployed": "--deployed", "failed": "--failed", "filter": "-f '^r.l$'", "max": "-m 1", "no-headers": "--no-headers",
             "offset": "--offset 1", "output": "-o yaml", "pending": "--pending", "reverse": "-r", "selector": "-l name=rel", "short": "-q", "superseded": "--superseded",
             "time-format": "--time-format 2006", "uninstalled": "--uninstalled", "uninstalling": "--uninstalling"},
    "history": {"max": "--max 1", "output": "-o json"},
    "status": {"output": "-o yaml", "revision": "--revision 1", "show-desc": "--show-desc", "show-resources": "--show-resources -o json"},
    "get all": {"revision": "--revision 1", "template": "--template '{{.Release.Name}} {{.Release.Version}}'"},
    "get hooks": {"revision": "--revision 1"}, "get manifest": {"revision": "--revision 1"}, "get metadata": {"output": "-o json", "revision": "--revision 1"},
    "get notes": {"revision": "--revision 1"}, "get values": {"all": "-a", "output": "-o json", "revision": "--revision 1"},
    "test": {"filter": "--filter '!name=rel-test'", "hide-notes": "--hide-notes", "logs": "--filter name=none --logs", "timeout": "--timeout 9s"},
}
GLOBAL = {  # on `list -q`, and the variable that says the same
    "namespace": ("-n {ns}", {"HELM_NAMESPACE": "{ns}"}),
    "kubeconfig": (f"--kubeconfig {KUBECONFIG} -n {{ns}}", {"KUBECONFIG": KUBECONFIG, "HELM_NAMESPACE": "{ns}"}),
    "kube-context": ("--kubeconfig {two} --kube-context second", {"KUBECONFIG": "{two}", "HELM_KUBECONTEXT": "second"}),
    "kube-apiserver": (f"--kube-apiserver {SERVER} -n {{ns}}", {"HELM_KUBEAPISERVER": SERVER, "HELM_NAMESPACE": "{ns}"}),
    "kube-token": ("--kube-token wrong -n {ns}", {"HELM_KUBETOKEN": "wrong", "HELM_NAMESPACE": "{ns}"}),
    "kube-ca-file": (f"--kube-apiserver {SERVER} --kube-token {TOKEN} --kube-ca-file {CA} --kube-tls-server-name kubernetes -n {{ns}}",
                     {"KUBECONFIG": "/nonexistent/none", "HELM_KUBEAPISERVER": SERVER, "HELM_KUBETOKEN": TOKEN, "HELM_KUBECAFILE": CA, "HELM_KUBETLS_SERVER_NAME": "kubernetes",
                      "HELM_NAMESPACE": "{ns}"}),
    "kube-tls-server-name": ("--kube-tls-server-name kubernetes.default -n {ns}", {"HELM_KUBETLS_SERVER_NAME": "kubernetes.default", "HELM_NAMESPACE": "{ns}"}),
    "kube-insecure-skip-tls-verify": ("--kube-insecure-skip-tls-verify -n {ns}", {"HELM_KUBEINSECURE_SKIP_TLS_VERIFY": "true", "HELM_NAMESPACE": "{ns}"}),
    "debug": ("--debug -n {ns}", {"HELM_DEBUG": "true", "HELM_NAMESPACE": "{ns}"}),
    "burst-limit": ("--burst-limit 5 -n {ns}", {"HELM_BURST_LIMIT": "5", "HELM_NAMESPACE": "{ns}"}),
    "qps": ("--qps 20 -n {ns}", {"HELM_QPS": "20", "HELM_NAMESPACE": "{ns}"}),
}
# Files of repositories and logins, and where they lie: the whole line, and the line with variables that say the same.
(work / "repositories.yaml").write_text("apiVersion: ''\ngenerated: 0001-01-01T00:00:00Z\nrepositories:\n- {name: one, url: 'http://127.0.0.1:1'}\n")
(work / "config/helm").mkdir(parents=True)
for place in ("cache", "home/repository"):
    (work / place).mkdir(parents=True)
    (work / place / "one-index.yaml").write_text("apiVersion: v1\nentries:\n  c:\n  - {apiVersion: v2, name: c, version: 0.1.0, urls: [c.tgz]}\n")
(work / "logins.json").write_text('{"auths": {"127.0.0.1:1": {"auth": "dTpw"}}}')
REPOSITORIES, CACHE = f"{work}/repositories.yaml", f"{work}/cache"
FILES = {
    "repository-config": (f"repo list --repository-config {REPOSITORIES}", "repo list", {"HELM_REPOSITORY_CONFIG": REPOSITORIES}),
    "repository-cache": (f"search repo c --repository-config {REPOSITORIES} --repository-cache {CACHE}", "search repo c",
                         {"HELM_REPOSITORY_CONFIG": REPOSITORIES, "HELM_REPOSITORY_CACHE": CACHE}),
    "registry-config": (f"registry logout 127.0.0.1:2 --registry-config {work}/logins.json", "registry logout 127.0.0.1:2", {"HELM_REGISTRY_CONFIG": f"{work}/logins.json"}),
}
VARIABLES = {  # that no flag stands for
    "HELM_CACHE_HOME": ("search repo c", {"HELM_CACHE_HOME": f"{work}/home", "HELM_REPOSITORY_CONFIG": REPOSITORIES}),
    "HELM_CONFIG_HOME": ("env HELM_REPOSITORY_CONFIG", {"HELM_CONFIG_HOME": f"{work}/config/helm"}),
    "HELM_DATA_HOME": ("env HELM_DATA_HOME", {"HELM_DATA_HOME": f"{work}/data"}),
    "XDG_CACHE_HOME": ("env HELM_REPOSITORY_CACHE", {"XDG_CACHE_HOME": f"{work}/xdg"}),
    "XDG_CONFIG_HOME": ("env HELM_REGISTRY_CONFIG", {"XDG_CONFIG_HOME": f"{work}/xdg"}),
    "XDG_DATA_HOME": ("env HELM_DATA_HOME", {"XDG_DATA_HOME": f"{work}/xdg"}),
    "HELM_DRIVER=configmap": ("list -q -n {ns}", {"HELM_DRIVER": "configmap"}),
    "HELM_DRIVER=secrets": ("list -q -n {ns}", {"HELM_DRIVER": "secrets"}),
    "HELM_MAX_HISTORY": (f"upgrade rel {C} -n {{ns}} --set a=x", {"HELM_MAX_HISTORY": "1"}),
    "HELM_MAX_HISTORY=x": (f"upgrade rel {C} -n {{ns}} --set a=x", {"HELM_MAX_HISTORY": "x"}),
    "HELM_NO_PLUGINS": ("list -q -n {ns}", {"HELM_NO_PLUGINS": "1"}),
    "HELM_PLUGINS": ("env HELM_PLUGINS", {"HELM_PLUGINS": f"{work}/plugins"}),
}
# What only one of the two can word: names of Go's packages, of the server's port, of moments.
VAGUE = [(r"UPDATED *\t", "UPDATED\t"), (r"\d{4}-\d\d-\d\d[ T][\d:.]+ ?(Z|[+-][\d:]+( UTC)?|UTC)? *", "TIME"), (r"\w{3} \w{3} +\d+ [\d:]+ \d{4}", "TIME"), (r'"(uid|resourceVersion)":"[^"]*"', "ID"),
         (r"(NAME-|c-)\d{10}", "NAME")]

failed, tried = [], 0


def filled(text, ns):
    return text.replace("{ns}", ns).replace("{two}", str(work / f"two-{ns}"))


def run(tool, line, ns, env=None):
    full = {**os.environ, "KUBECONFIG": KUBECONFIG, "HOME": str(work), **{k: filled(v, ns) for k, v in (env or {}).items()}}
    done = subprocess.run([*tool, *shlex.split(filled(line, ns))], capture_output=True, text=True, timeout=120, env=full)
    out = [done.stdout, done.stderr if done.returncode else ""]
    for i, text in enumerate(out):
        text = text.replace(ns, "NS").replace("windlass helm", "helm")
        for pattern, word in VAGUE:
            text = re.sub(pattern, word, text)
        out[i] = text
    return done.returncode, *out


def clear(ns):
    """The chart makes nothing else, but for its definition, which Helm leaves as well."""
    subprocess.run([KUBECTL, "--kubeconfig", KUBECONFIG, "-n", ns, "delete", "configmaps,secrets", "--field-selector", "metadata.name!=kube-root-ca.crt"], capture_output=True)


SIDES = (("flags-s", [HELM]), ("flags-w", [WINDLASS, "helm"]))
sides = concurrent.futures.ThreadPoolExecutor(len(SIDES))
READERS = ("list", "history", "status", "get", "env", "search")
standing = ()  # the steps whose releases both namespaces still have


def on_both(before, what):
    """What `what(namespace, tool)` gives on each side, where the releases of `before` are."""
    def one(side):
        ns, tool = side
        if before != standing:
            clear(ns)
            for step in before:
                run([HELM], step, ns)
        return what(ns, tool)

    return list(sides.map(one, SIDES))


def both(what, line, env=None, before=(), texts=True):
    global tried, standing
    tried += 1
    before = tuple(before)
    seen = on_both(before, lambda ns, tool: run(tool, line, ns, env)[:None if texts else 1])
    standing = before if line.split()[0] in READERS else None
    if seen[0] != seen[1]:
        failed.append(what)
        print(f"FAILED: {what}\n  helm:     {seen[0]}\n  windlass: {seen[1]}", flush=True)


def flags_that_work():
    page = subprocess.run([WINDLASS, "helm", "help", "--reference"], capture_output=True, text=True).stdout
    for part in page.split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        verb = None if heading.startswith("Flags") else heading.removeprefix("helm ")
        for flag in re.findall(r"^\| (?:`-\w` )?`--([a-z-]+)` \| works \|", text, re.M):
            yield verb, flag


for verb, flag in flags_that_work():
    known = {**GLOBAL, **FILES} if verb is None else CASES.get(verb)
    if known is not None and flag not in known and flag not in OURS:
        failed.append(f"{verb} --{flag} has no case")
        print("FAILED: " + failed[-1])

for ns, _ in SIDES:
    (work / f"two-{ns}").write_text(two_text.replace("NS", ns))
    subprocess.run([KUBECTL, "--kubeconfig", KUBECONFIG, "create", "namespace", ns], capture_output=True)
    clear(ns)  # of a run that was ended
ONE = f"install rel {C} -n {{ns}} --set a=first"
TWO = [ONE, f"upgrade rel {C} -n {{ns}} --set a=second"]
for verb, flags in CASES.items():
    for flag, given in flags.items():
        what = f"{verb} --{flag}"
        if verb == "install":
            line = {"generate-name": f"install {C} -g -n {{ns}}", "name-template": f"install {C} --name-template rel -n {{ns}}"}.get(flag, f"install rel {C} -n {{ns}} {given}")
            both(what, line, before=[ONE, "uninstall rel --keep-history -n {ns}"] if flag == "replace" else ())
        elif verb == "upgrade":
            both(what, f"upgrade {'other' if flag == 'install' else 'rel'} {C} -n {{ns}} {given}", before=[ONE])
        elif verb == "rollback":
            both(what, f"rollback rel 1 -n {{ns}} {given}", before=TWO)
        elif verb == "list":
            both(what, f"list -n {{ns}} {given}", before=TWO)
        else:
            both(what, f"{verb} rel -n {{ns}} {given}", before=TWO)
for flag, (given, variables) in GLOBAL.items():
    alone = {"KUBECONFIG": "/nonexistent/none"} if flag == "kube-ca-file" else None
    texts = flag != "kube-token"  # the server's 401 is worded by each client
    both(f"global --{flag}", f"list -q {given}", env=alone, before=[ONE], texts=texts)
    both(f"variables of --{flag}", "list -q", env=variables, before=[ONE], texts=texts)
for flag, (line, bare, variables) in FILES.items():
    both(f"global --{flag}", line)
    both(f"variables of --{flag}", bare, env=variables)
for variable, (line, env) in VARIABLES.items():
    both(f"variable {variable}", line, env=env, before=TWO if "{ns}" in line else ())
for line in (f"template rel {C} -n {{ns}} --dry-run=server", f"template rel {C} --kubeconfig {{two}} --kube-context second", f"lint {C}"):
    both(line.split()[0] + " on a cluster", line)


def debug_lines(tool, line, ns):
    """Those that name their place in Helm's sources, without times."""
    done = subprocess.run([*tool, *shlex.split(filled(line, ns)), "--debug"], capture_output=True, text=True, timeout=120, env={**os.environ, "KUBECONFIG": KUBECONFIG, "HOME": str(work)})
    placed = re.findall(r"^(\w+\.go:\d+: )\S+ \S+ \+0000 UTC m=\+[\d.]+ (\[debug\] .*)", done.stdout + done.stderr, re.M)
    return [a + b.replace(ns, "NS") for a, b in placed]


# A line of --debug that bears a place of Helm's is one that Helm prints; the verbs' own lines are all there.
for verb, line, before, own in (
        ("install", f"install rel {C} -n {{ns}}", [], "install.go:2"), ("upgrade", f"upgrade rel {C} -n {{ns}} --set a=x", [ONE], "upgrade.go"),
        ("rollback", "rollback rel 1 -n {ns}", TWO, "rollback.go"), ("uninstall", "uninstall rel -n {ns}", [ONE], "uninstall.go"),
        ("history", "history rel -n {ns}", [ONE], "history.go"), ("template", f"template rel {C}", [], "install.go")):
    tried += 1
    stock, ours = on_both(tuple(before), lambda ns, tool, line=line: debug_lines(tool, line, ns))
    standing = None
    strange = [one for one in ours if one not in stock]
    missing = [one for one in stock if one.startswith(own) and one not in ours]
    if strange or missing or not ours:
        failed.append(f"debug lines of {verb}")
        print(f"FAILED: {failed[-1]}: only windlass: {strange}, only helm: {missing}", flush=True)
for variable, value, why in (("HELM_KUBEASUSER", "eve", "impersonates no other"), ("HELM_DRIVER", "memory", "records are Secrets or ConfigMaps"),
                             ("HELM_DRIVER", "sql", "records are Secrets or ConfigMaps")):
    tried += 1
    done = subprocess.run([WINDLASS, "helm", "list"], capture_output=True, text=True, env=dict(os.environ, KUBECONFIG=KUBECONFIG, **{variable: value}))
    if done.returncode == 0 or why not in done.stderr:
        failed.append(f"{variable}={value} is refused")
        print(f"FAILED: {failed[-1]} {done}")
shutil.rmtree(work)
print(f"## {tried} cases of flags beside helm, {len(failed)} differ")
sys.exit(1 if failed else 0)
