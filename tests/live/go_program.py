"""Programs of other projects that the Go toolchain builds once and that are kept in ~/.cache/windlass."""
import pathlib
import shutil
import subprocess
import tempfile


def kept(name, module, release, package, who):
    """The path of that program, built from that release where it is not there yet; None, and said by `who`, where it cannot be."""
    program = pathlib.Path.home() / ".cache/windlass" / name
    if program.exists():
        return str(program)
    if not shutil.which("go"):
        return None
    print(f"## {who}: building {name}, once", flush=True)
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "go.mod").write_text(f"module tool\ngo 1.24\nrequire {module} {release}\n")
        pathlib.Path(folder, "tool.go").write_text("package tool\n")
        built = subprocess.run(["go", "build", "-mod=mod", "-trimpath", "-o", str(program), f"{module}/{package}"], cwd=folder, capture_output=True, text=True)
    if built.returncode:
        print(f"## {who}: no {name}: {built.stderr.strip().splitlines()[-1]}")
        return None
    return str(program)
