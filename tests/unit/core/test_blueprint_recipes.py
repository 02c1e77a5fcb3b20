"""`blueprint.yaml`: what a recipe may say, and the Dockerfile that it becomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harena.core.blueprint_recipes import (
    check_lock,
    check_npm_lock,
    contents_of,
    dockerfile_of,
    fault_in_words,
    read_recipe,
)
from harena.core.errors import ValidationError
from harena.core.image_configs import ImageConfig
from harena.image_build.instructions import Copy
from harena.image_build.planning import BuildOptions, RunStep, plan_build, plan_stage
from harena.image_build.reading import read_dockerfile

WHOLE: dict[str, Any] = {
    "name": "web-agent",
    "version": 1.2,
    "base": "debian:12",
    "packages": {"system": ["curl", "libssl3:amd64", "git=1:2.39.5-0+deb12u2"], "pip": "locks/requirements.lock"},
    "files": {
        "/etc/app.conf": {"from": "app.conf", "mode": "0640"},
        "/etc/motd": "END\nEND_\nof $HOME\n",
        "/etc/pip.conf": {"from": "pip.conf"},
    },
    "env": {"LANG": "C.UTF-8"},
    "build": {"commands": ["make install && echo $LANG"], "network": ["pypi", "apt"], "secrets": ["token"]},
    "user": "agent:agent",
    "workdir": "/home/agent",
    "network": {"allow": ["pypi"]},
    "gateways": {"HUB": {"url": "https://api.example.org", "secret": "HUB_TOKEN"}},
    "profile": "machine",
}


def test_a_recipe_becomes_a_dockerfile() -> None:
    """In the order: variables, files that installers read, packages, files, commands; the last lines say who runs
    what."""
    recipe = read_recipe(WHOLE)
    assert (recipe.version, recipe.build_network, recipe.network.allow) == ("1.2", "pypi,apt", ("pypi",))
    lines = dockerfile_of(recipe, "sha256:" + "a" * 64).splitlines()
    assert lines[:2] == ["FROM sha256:" + "a" * 64, "USER 0:0"]
    assert "curl libssl3:amd64 git=1:2.39.5-0+deb12u2" in lines[4]
    assert lines[-1] == 'LABEL org.opencontainers.image.version="1.2"'
    assert lines[-3] == "USER agent:agent"
    read = read_dockerfile("\n".join(lines))
    texts = [one.text for one in read.stages[0].instructions]
    assert [text.split()[0] for text in texts] == [
        *("USER", "ENV", "COPY", "RUN", "RUN", "COPY", "COPY", "RUN", "RUN", "WORKDIR", "USER", "RUN", "LABEL"),
    ]
    ((place, content),) = contents_of(recipe).items()
    assert content == WHOLE["files"]["/etc/motd"].encode()
    (pip, conf, motd) = [one for one in read.stages[0].instructions if isinstance(one, Copy)]
    assert (pip.sources, pip.mode) == (("pip.conf",), "")
    assert (conf.sources, conf.mode, conf.destination) == (("app.conf",), "0640", "/etc/app.conf")
    assert (motd.sources, motd.mode, motd.destination) == ((place,), "0644", "/etc/motd")


@given(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"])), st.text(max_size=9))
def test_values_and_commands_are_what_the_recipe_says(value: str, command: str) -> None:
    """Whatever signs are in them: none of a Dockerfile's own syntax has a say."""
    command = command.replace("\0", "") or "true"
    if any("\ud800" <= letter <= "\udfff" for letter in command):
        return
    recipe = read_recipe({"name": "x", "base": "a", "env": {"V": value}, "build": {"commands": [command]}})
    plan = plan_build(read_dockerfile(dockerfile_of(recipe, "a")), BuildOptions())
    made = plan_stage(plan, 0, ImageConfig())
    ((step, _),) = made.steps
    assert isinstance(step, RunStep)
    assert step.environment["V"] == value
    assert step.argv == ("/bin/sh", "-ec", command)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("apt-get", "packages.system: it has ended. It said last: no such package"),
        ("pip install", "packages.pip: it has ended. It said last: no such package"),
        ("make install", "build.commands[0]: it has ended. It said last: no such package"),
        ("mkdir -p", "workdir: it has ended. It said last: no such package"),
        ("app.conf", "files./etc/app.conf: it has ended."),
    ],
)
def test_what_fails_is_told_by_its_place_in_the_recipe(line: str, said: str) -> None:
    """Nobody has seen the Dockerfile."""
    recipe = read_recipe(WHOLE)
    lines = dockerfile_of(recipe, "a", env={"OF": "its base"}).splitlines()
    (number,) = [at for at, text in enumerate(lines, 1) if line in text]
    tail = " What it said stands in the build's log." if lines[number - 1].startswith("RUN") else ""
    told = f"Dockerfile line {number}: {lines[number - 1].split()[0]}: it has ended.{tail}"
    assert fault_in_words(told, "much\nno such package\n\n", recipe, {"OF": "its base"}) == said
    assert fault_in_words("it was cancelled", "", recipe, {}) == "it was cancelled"


def test_packages_without_a_network_are_told_what_lacks() -> None:
    recipe = read_recipe({"name": "x", "base": "a", "packages": {"system": ["jq"]}})
    assert "(nothing can be reached: say" in fault_in_words("Dockerfile line 2: RUN: ended", "", recipe, {})


@pytest.mark.parametrize("written", ["/data/bin:$PATH", "/data/bin:${PATH}"])
def test_a_path_may_add_to_that_of_the_image(written: str) -> None:
    """As in a Dockerfile; in no other variable has a sign a meaning."""
    recipe = read_recipe(
        {"name": "x", "base": "a", "env": {"PATH": written, "V": "$PATH"}, "build": {"commands": ["a"]}}
    )
    made = plan_stage(
        plan_build(read_dockerfile(dockerfile_of(recipe, "a")), BuildOptions()),
        0,
        ImageConfig(environment={"PATH": "/bin"}),
    )
    ((step, _),) = made.steps
    assert isinstance(step, RunStep)
    assert (step.environment["PATH"], step.environment["V"]) == ("/data/bin:/bin", "$PATH")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": None}, "name must be a text"),
        ({"name": "a b"}, "name: 'a b' must be letters"),
        ({"nome": 1}, "the file: there is no field 'nome'"),
        ({"base": {"image": "a", "snapshot": "b"}}, "base is one of"),
        ({"base": "a b"}, "^base: "),
        ({"packages": {"system": ["a; rm -rf /"]}}, "packages.system: 'a; rm -rf /'"),
        ({"packages": {"pip": ["requests"]}}, "packages.pip: an image takes a lock"),
        ({"packages": {"pip": "../up.lock"}}, "packages.pip: '../up.lock' must be a path beside"),
        ({"files": {"etc/x": ""}}, "files: 'etc/x' must be the absolute path"),
        ({"files": {"/x": {"from": "/etc/passwd"}}}, "files./x.from: '/etc/passwd' must be a path beside"),
        ({"files": {"/x": {"from": "a*"}}}, "must name one file"),
        ({"files": {"/x": {"mode": "0644"}}}, "files./x has either `from`"),
        ({"files": {"/x": {"content": "", "mode": "rw"}}}, "files./x.mode: 'rw' must be"),
        ({"env": {"A B": ""}}, "env: 'A B' is no name"),
        ({"env": {"A": "1\n2"}}, "env.A: put a text of several lines"),
        ({"env": {"PATH": "$HOME/bin:$PATH"}}, r"env.PATH: \$PATH stands for what the image has"),
        ({"env": {"PATH": "$PATHS"}}, "env.PATH: "),
        (
            {"base": "host", "packages": {}, "build": {}, "user": "", "workdir": "", "env": {"PATH": "/a:$PATH"}},
            "env.PATH: on",
        ),
        ({"env": {"A": 1}}, "env.A must be a text"),
        ({"build": {"commands": "make"}}, "build.commands must be a list"),
        ({"build": {"network": ["a b"]}}, "build.network: "),
        ({"build": {"secrets": ["a,target=/etc"]}}, "build.secrets: "),
        ({"user": "a b"}, "user: 'a b' must be"),
        ({"workdir": "home"}, "workdir"),
        ({"warm": ["json"]}, "warm: only programs"),
        ({"network": {"allow": ["a b"]}}, "network: "),
        ({"gateways": {"up": {}}}, "gateways: "),
        ({"profile": "root"}, "profile"),
        ({"limits": {"memory": "2G"}}, "limits: there is no field 'memory'"),
        ({"limits": {"memory_mb": 1.5}}, "limits: memory_mb must be a whole number"),
        ({"limits": {"pids": 1}}, "limits: pids must be"),
        ({"limits": {"cpu": "two"}}, "limits: cpu must be"),
        ({"base": "host"}, "packages.system: the base `host`"),
    ],
)
def test_what_a_recipe_may_not_say(change: dict[str, Any], said: str) -> None:
    """One sentence that begins with the place."""
    with pytest.raises(ValidationError, match=said):
        read_recipe({**WHOLE, **change})


def test_locks_have_hashes() -> None:
    """Of each package, and no options."""
    check_lock("# made\na==1 \\\n  --hash=sha256:00\n", "lock")
    for line in ("a", "a>=1 --hash=sha256:00", "a==1", "-r other.txt", "--index-url http://a.org"):
        with pytest.raises(ValidationError, match=r"^lock: "):
            check_lock(f"b==1 --hash=sha256:00\n{line}\n", "lock")
    packages = {"": {"name": "x"}, "node_modules/a": {"integrity": "sha512-x"}, "node_modules/b": {"link": True}}
    check_npm_lock(json.dumps({"packages": packages}), "lock")
    for lock in ("[]", "{", json.dumps({"packages": {"node_modules/a": {}}})):
        with pytest.raises(ValidationError, match=r"^lock"):
            check_npm_lock(lock, "lock")


def test_the_pages_example_is_a_recipe() -> None:
    """What it installs, it also brings what is needed for; its user is made before programs run as it."""
    page = (Path(__file__).parents[3] / "docs/how-to/blueprints.md").read_text()
    recipe = read_recipe(yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0]))
    assert "python3-pip" in recipe.system
    assert {daemon.command[0] for daemon in recipe.daemons} <= set(recipe.system)
    assert any(f"useradd --create-home {recipe.user}" in command for command in recipe.commands)
    assert recipe.build_network != "none"
