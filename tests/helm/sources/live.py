#!/usr/bin/env python3
"""`windlass helm` beside the stock helm on the same files and servers: what one publishes the other fetches, what one
writes the other reads. A docker-registry and a file server run on loopback; nothing else is needed.

    tests/helm/sources/live.py WINDLASS [HELM]
"""
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

WINDLASS = [str(pathlib.Path(sys.argv[1]).resolve()), "helm"]
HELM = next((h for h in [*sys.argv[2:3], str(pathlib.Path.home() / "go/bin/helm"), shutil.which("helm") or ""]
             if h and os.access(h, os.X_OK)), None)
REGISTRY = shutil.which("docker-registry")
DIR = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-"))
checks = 0


def skip(reason):
    print(f"live: SKIPPED: {reason}")
    shutil.rmtree(DIR, ignore_errors=True)
    sys.exit(0)


def check(ok, what, *details):
    global checks
    checks += 1
    if not ok:
        print(f"FAILED: {what}", *(f"\n  {d!r}" for d in details))
        raise SystemExit(1)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def home(name):
    """An environment whose configuration and cache are in a folder of their own."""
    at = DIR / name
    at.mkdir(exist_ok=True)
    return {**os.environ, "HOME": str(at), "HELM_CONFIG_HOME": str(at / "config"), "HELM_CACHE_HOME": str(at / "cache"),
            "GNUPGHOME": str(DIR / "gnupg"), "DOCKER_CONFIG": str(at / "docker"), "TZ": "UTC"}


class Tool:
    def __init__(self, name, argv, env):
        self.name, self.argv, self.env = name, argv, env

    def __call__(self, *arguments, ok=True, text=None):
        done = subprocess.run([*self.argv, *map(str, arguments)], env=self.env, cwd=DIR, input=text, capture_output=True,
                              text=True, timeout=120)
        if ok is not None:
            check((done.returncode == 0) == ok, f"{self.name} {' '.join(map(str, arguments))}", done.stdout, done.stderr)
        return done


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def write(path, text):
    path = DIR / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *a, **k):
        super().__init__(*a, directory=str(DIR / "shop"), **k)

    def log_message(self, *_):
        pass

    def send_error(self, code, message=None, explain=None):
        super().send_error(code)  # with the reason that HTTP gives


def start_registry(name, port, htpasswd=None):
    auth = f"auth:\n  htpasswd:\n    realm: live\n    path: {htpasswd}\n" if htpasswd else ""
    write(f"{name}.yaml", f"version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem: {{rootdirectory: {DIR}/{name}-data}}\n"
                          f"http: {{addr: '127.0.0.1:{port}'}}\n{auth}")
    process = subprocess.Popen([REGISTRY, "serve", str(DIR / f"{name}.yaml")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    skip("docker-registry does not listen")


def without_times(text):
    return re.sub(r'(generated|created): "[^"]*"', r"\1: T", text)


def charts():
    for version in ("1.0.0", "1.1.0", "1.2.0+build.5", "2.0.0-rc.1"):
        write("app/Chart.yaml", f"apiVersion: v2\nname: app\nversion: {version}\nappVersion: \"7\"\ndescription: An <app> & more\n"
                                "home: https://example.com\nsources: [https://example.com/src]\n"
                                "maintainers: [{name: A, email: a@example.com}, {name: B}]\nannotations: {x: 'y', a/b: 'c'}\n"
                                "keywords: [web, nginx]\n")
        write("app/values.yaml", "replicas: 1 # comment\n")
        write("app/templates/x.yaml", "kind: X\nmetadata: {name: {{ .Release.Name }}}\nreplicas: {{ .Values.replicas }}\n")
        yield version


def packaging(ours, helm):
    """Archives of both hold the same files; the shop serves ours and theirs mixed."""
    (DIR / "shop").mkdir()
    for i, version in enumerate(charts()):
        for tool, to in ((ours, "by-ours"), (helm, "by-helm")):
            (DIR / to).mkdir(exist_ok=True)
            out = tool("package", DIR / "app", "-d", DIR / to).stdout
            check(out == f"Successfully packaged chart and saved it to: {DIR / to}/app-{version}.tgz\n", "package prints the path", out)
        listed = [subprocess.run(["tar", "-tzf", str(DIR / to / f"app-{version}.tgz")], capture_output=True, text=True).stdout
                  for to in ("by-ours", "by-helm")]
        check(listed[0] == listed[1], "archives hold the same names", *listed)
        texts = [subprocess.run(["tar", "-xzOf", str(DIR / to / f"app-{version}.tgz")], capture_output=True).stdout
                 for to in ("by-ours", "by-helm")]
        check(texts[0] == texts[1], "archives hold the same bytes", *texts)
        shutil.copy(DIR / ("by-ours" if i % 2 else "by-helm") / f"app-{version}.tgz", DIR / "shop")


def indexes(ours, helm, url):
    """repo index of both tools, and each reads the other's."""
    helm("repo", "index", DIR / "shop", "--url", url)
    theirs = (DIR / "shop/index.yaml").read_text()
    ours("repo", "index", DIR / "shop", "--url", url)
    check(without_times((DIR / "shop/index.yaml").read_text()) == without_times(theirs), "repo index writes the same",
          (DIR / "shop/index.yaml").read_text(), theirs)
    helm("repo", "index", DIR / "shop", "--merge", DIR / "shop/index.yaml")
    ours("repo", "index", DIR / "shop", "--merge", DIR / "shop/index.yaml")
    helm("repo", "index", DIR / "shop", "--json")
    theirs = re.sub(r'"(generated|created)": "[^"]*"', "T", (DIR / "shop/index.yaml").read_text())
    ours("repo", "index", DIR / "shop", "--json")
    check(re.sub(r'"(generated|created)": "[^"]*"', "T", (DIR / "shop/index.yaml").read_text()) == theirs, "the same as JSON")


def repositories(ours, helm, url):
    """One repositories.yaml and one cache for both."""
    for adds, other in ((helm, ours), (ours, helm)):
        name = f"shop-{adds.name}"
        out = adds("repo", "add", name, url, "--username", "me", "--password", "geheim", "--pass-credentials")
        check(out.stdout == f'"{name}" has been added to your repositories\n', "repo add", out.stdout)
        again = other("repo", "add", name, url, "--username", "me", "--password", "geheim", "--pass-credentials").stdout
        check(again == f'"{name}" already exists with the same configuration, skipping\n', "both see the same entry", again)
    for arguments in (["repo", "list"], ["repo", "list", "-o", "json"], ["repo", "list", "-o", "yaml"],
                      ["search", "repo"], ["search", "repo", "nginx"], ["search", "repo", "-l", "app"], ["search", "repo", "--devel"],
                      ["search", "repo", "app", "--version", "~1.1", "-o", "json"], ["search", "repo", "app", "-o", "yaml"],
                      ["search", "repo", "-r", "^a.p\v"], ["search", "repo", "none"]):
        left, right = ours(*arguments), helm(*arguments)
        check(left.stdout == right.stdout, f"{arguments} prints the same", left.stdout, right.stdout)
    for tool in (ours, helm):
        text = tool("repo", "update", ok=True).stdout
        check(sorted(text.splitlines()) == sorted(helm("repo", "update").stdout.splitlines()), "repo update", text)
    before = (DIR / "shared/config/repositories.yaml").read_text()
    helm("repo", "add", "third", url)
    ours("repo", "remove", "third")
    check((DIR / "shared/config/repositories.yaml").read_text() == before, "repositories.yaml is what helm would write")
    for arguments in (["repo", "add", "x", url + "/none"], ["repo", "add", "a/b", url], ["repo", "remove", "none"],
                      ["repo", "update", "none"], ["repo", "add", f"shop-{helm.name}", url],
                      ["pull", "none/app"], ["pull", "app"], [f"pull", "shop-helm/none"], ["pull", "shop-helm/app", "--version", "9"],
                      ["pull", "app", "--repo", url, "--version", "9"], ["pull", "none", "--repo", url],
                      ["pull", url + "/none-1.tgz"], ["pull", "shop-helm/app", "--version", "x y"],
                      ["pull", "shop-helm/app", "--verify"], ["template", "x", "shop-helm/none"], ["template", "x", "./none"],
                      ["show", "chart", "none/app"]):
        left, right = ours(*arguments, ok=False), helm(*arguments, ok=False)
        check(left.stderr == right.stderr, f"{arguments} fails with the same words", left.stderr, right.stderr)


def pulling(ours, helm, url):
    for arguments in (["shop-helm/app"], ["shop-helm/app", "--version", "~1.0"], ["shop-helm/app", "--devel"],
                      ["app", "--repo", url], [url + "/app-1.0.0.tgz"], ["shop-windlass/app", "--version", "1.2.0+build.5"]):
        found = []
        for tool in (ours, helm):
            to = DIR / f"pulled-{tool.name}"
            shutil.rmtree(to, ignore_errors=True)
            to.mkdir()
            tool("pull", *arguments, "-d", to)
            found.append({p.name: sha256(p) for p in to.iterdir()})
        check(found[0] == found[1] and len(found[0]) == 1, f"pull {arguments}", *found)
    for tool in (ours, helm):
        tool("pull", "shop-helm/app", "--untar", "-d", DIR / f"untar-{tool.name}") if (DIR / f"untar-{tool.name}").mkdir() is None else None
    left, right = (sorted((str(p.relative_to(DIR / f"untar-{t.name}")), p.read_text()) for p in (DIR / f"untar-{t.name}").rglob("*") if p.is_file())
                   for t in (ours, helm))
    check(left == right, "untar gives the same files", left, right)
    for arguments in (["template", "x", "shop-helm/app"], ["template", "x", "app", "--repo", url, "--version", "1.0.0"],
                      ["template", "x", url + "/app-1.1.0.tgz", "--set", "replicas=3"], ["show", "chart", "shop-helm/app"],
                      ["show", "all", "shop-helm/app", "--devel"]):
        left, right = ours(*arguments), helm(*arguments)
        check(left.stdout == right.stdout, f"{arguments} prints the same", left.stdout, right.stdout)


def manifest(port, name, tag):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v2/{name}/manifests/{tag}",
                                     headers={"Accept": "application/vnd.oci.image.manifest.v1+json"})
    return urllib.request.urlopen(request, timeout=10).read()


def registries(ours, helm, port):
    """Pushed with one, pulled with the other; the same archive makes the same manifest."""
    for version in ("1.0.0", "1.1.0", "1.2.0+build.5", "2.0.0-rc.1"):
        archive, tag = DIR / "shop" / f"app-{version}.tgz", version.replace("+", "_")
        outputs = []
        for pushes, to in ((ours, "by-windlass"), (helm, "by-helm")):
            outputs.append(pushes("push", archive, f"oci://127.0.0.1:{port}/{to}", "--plain-http").stderr.splitlines()[:2])
        left, right = manifest(port, "by-windlass/app", tag), manifest(port, "by-helm/app", tag)
        check(left == right, "the manifests are equal", left, right)
        check([o[1] for o in outputs] == [f"Digest: sha256:{hashlib.sha256(left).hexdigest()}"] * 2, "and so are the digests", outputs)
    for pulls, source in ((ours, "by-helm"), (helm, "by-windlass"), (ours, "by-windlass")):
        for arguments, name in ((["--version", "1.0.0"], "app-1.0.0.tgz"), ([], "app-1.2.0+build.5.tgz"),
                                (["--version", "~1.1"], "app-1.1.0.tgz"), (["--devel"], "app-2.0.0-rc.1.tgz")):
            to = DIR / f"oci-{pulls.name}"
            shutil.rmtree(to, ignore_errors=True)
            to.mkdir()
            pulls("pull", f"oci://127.0.0.1:{port}/{source}/app", *arguments, "--plain-http", "-d", to)
            check({p.name: sha256(p) for p in to.iterdir()} == {name: sha256(DIR / "shop" / name)}, f"{pulls.name} pulls {name}",
                  list(to.iterdir()))
    reference = f"oci://127.0.0.1:{port}/by-helm/app"
    for arguments in (["template", "x", reference], ["show", "chart", reference + ":1.0.0"], ["show", "values", reference, "--version", "^1"]):
        left, right = ours(*arguments, "--plain-http"), helm(*arguments, "--plain-http")
        check(left.stdout == right.stdout, f"{arguments} prints the same", left.stdout, right.stdout)
    for arguments in (["pull", reference, "--version", ">9"], ["pull", reference + ":9.9.9"], ["pull", reference + ":1.0.0", "--version", "2.0.0"],
                      ["pull", f"oci://127.0.0.1:{port}/App/x"], ["push", DIR / "none.tgz", "oci://x"], ["push", DIR / "app", "oci://x"],
                      ["push", DIR / "shop/app-1.0.0.tgz", "http://x"], ["push", DIR / "shop/app-1.0.0.tgz", "x"]):
        more = ["--plain-http"]
        left, right = ours(*arguments, *more, ok=False), helm(*arguments, *more, ok=False)
        check(left.stderr == right.stderr, f"{arguments} fails with the same words", left.stderr, right.stderr)
    foreign_manifests(ours, helm, port)


def put(port, path, body, content_type):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, method="PUT", headers={"Content-Type": content_type})
    return urllib.request.urlopen(request, timeout=10)


def foreign_manifests(ours, helm, port):
    """What no helm pushed: wrong media types, too few layers."""
    name = "foreign/app"
    blob = b"{}"
    digest = "sha256:" + hashlib.sha256(blob).hexdigest()
    start = urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/v2/{name}/blobs/uploads/", data=b"", method="POST"))
    location = start.headers["Location"]
    urllib.request.urlopen(urllib.request.Request(location + ("&" if "?" in location else "?") + f"digest={digest}", data=blob, method="PUT",
                                                  headers={"Content-Type": "application/octet-stream"}))
    config, chart = "application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
    image = "application/vnd.oci.image.manifest.v1+json"
    rows = [("application/vnd.oci.image.config.v1+json", ["application/x"]), (config, []), ("application/vnd.oci.image.config.v1+json", [chart]),
            (config, ["application/x", "application/vnd.cncf.helm.chart.provenance.v1.prov"]),
            (config, ["application/x"])]
    for i, (config_type, layers) in enumerate(rows):
        def part(kind):
            return {"mediaType": kind, "digest": digest, "size": len(blob)}
        body = {"schemaVersion": 2, "mediaType": image, "config": part(config_type), "layers": [part(k) for k in layers]}
        put(port, f"/v2/{name}/manifests/0.0.{i}", json.dumps(body).encode(), image)
        for more in ([], ["--prov"]):
            arguments = ["pull", f"oci://127.0.0.1:{port}/{name}:0.0.{i}", "--plain-http", *more]
            left, right = ours(*arguments, ok=False), helm(*arguments, ok=False)
            check(left.stderr == right.stderr, f"{config_type} with {layers}", left.stderr, right.stderr)


def logins(ours, helm, port):
    """A registry with passwords: each tool uses the other's login."""
    host = f"127.0.0.1:{port}"
    archive = DIR / "shop/app-1.0.0.tgz"
    for tool in (ours, helm):
        tool("push", archive, f"oci://{host}/private", "--plain-http", ok=False)
        wrong = tool("registry", "login", host, "-u", "me", "--password-stdin", "--plain-http", text="wrong", ok=False)
        check("wrong" not in wrong.stderr.replace("wrong password", ""), "no password in a message", wrong.stderr)
    for login, other in ((ours, helm), (helm, ours)):
        out = login("registry", "login", host, "-u", "me", "--password-stdin", "--plain-http", text="geheim\n").stderr
        check(out.endswith("Login Succeeded\n"), "login", out)
        other("push", archive, f"oci://{host}/{login.name}", "--plain-http")
        other("pull", f"oci://{host}/{login.name}/app:1.0.0", "--plain-http", "-d", DIR)
        config = json.loads((DIR / "shared/config/registry/config.json").read_text())
        check(list(config["auths"]) == [host], "one entry", config)
        other("registry", "logout", host)
        login("pull", f"oci://{host}/{login.name}/app:1.0.0", "--plain-http", ok=False)
    helm("pull", f"oci://{host}/helm/app:1.0.0", "--plain-http", "--username", "me", "--password", "geheim", "-d", DIR)
    ours("pull", f"oci://{host}/helm/app:1.0.0", "--plain-http", "--username", "me", "--password", "geheim", "-d", DIR)


def dependencies(ours, helm, url, port):
    """The same Chart.lock, and each tool builds from the other's."""
    write("local/Chart.yaml", "apiVersion: v2\nname: local\nversion: 0.3.0\n")
    rows = ["- {name: app, version: ~1.0, repository: '@shop-helm'}\n- {name: local, version: '>=0', repository: 'file://../local', "
            "condition: local.enabled, tags: [a], alias: l, import-values: [data]}\n",
            f"- {{name: app, version: '>=1 <2', repository: '{url}/'}}\n",
            f"- {{name: app, version: ^1.0, repository: 'oci://127.0.0.1:{port}/by-helm', alias: one}}\n"
            f"- {{name: app, version: 1.0.0, repository: 'oci://127.0.0.1:{port}/by-helm', alias: two}}\n"]
    for row in rows:
        write("parent/Chart.yaml", "apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n" + row)
        locks, lists = [], []
        more = ["--plain-http"] if "oci:" in row else []
        for tool in (ours, helm):
            shutil.rmtree(DIR / "parent/charts", ignore_errors=True)
            (DIR / "parent/Chart.lock").unlink(missing_ok=True)
            lists.append(tool("dependency", "list", DIR / "parent").stdout)
            tool("dependency", "update", DIR / "parent", *more)
            locks.append(without_times((DIR / "parent/Chart.lock").read_text()).splitlines())
            lists.append(tool("dependency", "list", DIR / "parent").stdout)
            other = helm if tool is ours else ours
            before = sorted(p.name for p in (DIR / "parent/charts").iterdir())
            shutil.rmtree(DIR / "parent/charts")
            other("dependency", "build", DIR / "parent", *more)
            check(sorted(p.name for p in (DIR / "parent/charts").iterdir()) == before, f"{other.name} builds what {tool.name} locked")
        strip = [[line for line in lock if not line.startswith("generated")] for lock in locks]
        check(strip[0] == strip[1], "the same Chart.lock", *locks)
        check(lists[:2] == lists[2:], "the same listing", *lists)
    for row, what in (("- {name: app, version: '9', repository: '@shop-helm'}\n", "update"), ("- {name: x, version: '1', repository: stable}\n", "update"),
                      ("- {name: x, version: '1', repository: 'file://../none'}\n", "update"), ("- {name: none, version: '1', repository: '@shop-helm'}\n", "update"),
                      ("- {name: app, version: '1', repository: '@shop-helm'}\n", "build")):
        write("parent/Chart.yaml", "apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n" + row)
        left, right = (t("dependency", what, DIR / "parent", "--skip-refresh", ok=False).stderr for t in (ours, helm))
        check(left == right, f"{row} fails with the same words", left, right)


def signatures(ours, helm, url):
    """Signed with one, verified with the other; what was tampered with is refused by both."""
    gpg = shutil.which("gpg")
    if not gpg:
        print("live: provenance not compared: there is no gpg")
        return
    (DIR / "gnupg").mkdir(mode=0o700)
    run = lambda *a: subprocess.run([gpg, "--homedir", str(DIR / "gnupg"), "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", *a],
                                    check=True, capture_output=True).stdout
    run("--quick-gen-key", "Live Signer <live@example.com>", "rsa2048", "sign", "never")
    run("--quick-gen-key", "Stranger <stranger@example.com>", "rsa2048", "sign", "never")
    (DIR / "public.gpg").write_bytes(run("--export", "Live"))
    (DIR / "stranger.gpg").write_bytes(run("--export", "Stranger"))
    (DIR / "secret.gpg").write_bytes(run("--export-secret-keys", "Live"))
    subprocess.run(["gpgconf", "--homedir", str(DIR / "gnupg"), "--kill", "gpg-agent"], capture_output=True)
    for signs in (helm, ours):
        to = DIR / f"signed-{signs.name}"
        to.mkdir()
        signs("package", DIR / "app", "-d", to, "--sign", "--key", "Live Signer", "--keyring", DIR / "secret.gpg")
        archive = next(to.glob("*.tgz"))
        left, right = (t("verify", archive, "--keyring", DIR / "public.gpg") for t in (ours, helm))
        check(left.stdout == right.stdout and "Signed by: Live Signer <live@example.com>" in left.stdout, "verify", left.stdout, right.stdout)
        prov = pathlib.Path(f"{archive}.prov")
        signed = prov.read_text()
        for keyring, change in (("stranger.gpg", lambda t: t), ("public.gpg", lambda t: t.replace("name: app", "name: bpp")),
                                ("public.gpg", lambda t: "hello\n"), ("none.gpg", lambda t: t)):
            prov.write_text(change(signed))
            left, right = (t("verify", archive, "--keyring", DIR / keyring, ok=False).stderr for t in (ours, helm))
            words = lambda text: text.split("invalid signature")[0]
            check(words(left) == words(right), f"refused alike with {keyring}", left, right)
        prov.write_text(signed)
        good = archive.read_bytes()
        archive.write_bytes(good + b"x")
        left, right = (t("verify", archive, "--keyring", DIR / "public.gpg", ok=False).stderr for t in (ours, helm))
        check(left == right and "sha256 sum does not match" in left, "a changed archive is refused", left, right)
        archive.write_bytes(good)
        shutil.copy(archive, DIR / "shop")
        shutil.copy(prov, DIR / "shop")
        for tool in (ours, helm):
            out = tool("pull", f"{url}/{archive.name}", "--verify", "--keyring", DIR / "public.gpg", "-d", DIR).stdout
            check("Chart Hash Verified: sha256:" in out, "pull --verify", out)
            tool("pull", f"{url}/{archive.name}", "--verify", "--keyring", DIR / "stranger.gpg", "-d", DIR, ok=False)


def rendering(ours):
    """windlass helm verify CHART -f V"""
    write("values.yaml", "replicas: 4\n")
    ours.env["PATH"] = f"{pathlib.Path(HELM).parent}:{os.environ['PATH']}"
    out = ours("verify", DIR / "app", "-f", DIR / "values.yaml").stdout
    check(out.startswith("equal: "), "verify renders both", out)
    write("app/templates/random.yaml", "x: {{ randAlphaNum 20 }}\n")
    out = ours("verify", DIR / "app", "-f", DIR / "values.yaml", ok=False).stdout
    check("the output differs in line" in out and "app/templates/random.yaml" in out, "verify shows the difference", out)
    write("app/templates/random.yaml", "x: {{ fail \"no\" }}\n")
    out = ours("verify", DIR / "app", "-f", DIR / "values.yaml").stdout
    check(out.startswith("equal: both fail with"), "both fail alike", out)


def main():
    if not HELM:
        skip("no helm (go install helm.sh/helm/v3/cmd/helm@v3.21.4)")
    if not REGISTRY:
        skip("no docker-registry")
    env = home("shared")
    ours, helm = Tool("windlass", WINDLASS, dict(env)), Tool("helm", [HELM], dict(env))
    processes = []
    server = None
    try:
        port, closed = free_port(), free_port()
        processes.append(start_registry("open", port))
        packaging(ours, helm)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        for step, arguments in ((indexes, (ours, helm, url)), (repositories, (ours, helm, url)), (pulling, (ours, helm, url)),
                                (registries, (ours, helm, port)), (dependencies, (ours, helm, url, port))):
            step(*arguments)
            print(f"{step.__name__}: {checks} checks so far")
        try:
            import warnings
            warnings.simplefilter("ignore", DeprecationWarning)
            import crypt
            (DIR / "htpasswd").write_text(f"me:{crypt.crypt('geheim', crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16))}\n")
            processes.append(start_registry("closed", closed, DIR / "htpasswd"))
            logins(ours, helm, closed)
        except ImportError:
            print("live: logins not compared: this Python has no crypt")
        signatures(ours, helm, url)
        rendering(ours)
        print(f"live: charts from repositories and registries: {checks} checks, 0 differences")
    finally:
        if server:
            server.shutdown()
        for p in processes:
            p.kill()
            p.wait()
        shutil.rmtree(DIR, ignore_errors=True)


main()
