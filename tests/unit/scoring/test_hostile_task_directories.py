"""Task directories come from clients: they take time and memory that grow with what they hold, or are refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from data_set_rows import harbor_task, mistakes_of, only

from harena.core.errors import ValidationError
from harena.scoring.contracts.contract import HarborContract
from harena.scoring.formats import import_scenarios
from harena.scoring.formats.dockerfile import read_dockerfile
from harena.scoring.formats.rows import FieldError

DOCKERFILE = "environment/Dockerfile"


@pytest.mark.parametrize("name", ["a.c", "(", "(x+x+)+y"])
def test_the_name_of_an_argument_is_no_pattern(tmp_path: Path, name: str) -> None:
    folder = harbor_task(tmp_path / "task", **{DOCKERFILE: f"FROM x\nARG {name}=1\nARG b=2\nRUN abc {'x' * 22}z $b\n"})
    assert read_dockerfile(folder).commands == [f"export b=2; abc {'x' * 22}z $b"]


def test_variables_that_are_not_closed_are_looked_through_once(tmp_path: Path) -> None:
    """Once for each of them takes a minute, in which no other thread runs."""
    opened = "${a:-" * 8_000
    toml = f'version = "1.0"\n[environment]\ndocker_image = "x"\n[environment.env]\nA = "${{b:-x}}{opened}"\n'
    begun = time.process_time()
    contract = only(harbor_task(tmp_path / "task", **{"task.toml": toml})).scoring
    assert isinstance(contract, HarborContract)
    assert contract.env["A"] == f"x{opened}"
    assert time.process_time() - begun < 4.0


@pytest.mark.parametrize(
    ("dockerfile", "message"),
    [
        ("ENV A=aaaaaaaa\n" + "ENV A=$A$A\n" * 16, "make of variables is too much"),
        ("ARG A=" + "a" * 4000 + "\n" + "RUN x $A\n" * 20, "make of variables is too much"),
        ("".join(f"COPY start.txt /app/{number}\n" for number in range(5)), "copied more than 4 times"),
        ("RUN x\n" * 1000, "more than 1000 instructions"),
        ("#" * 256 * 1024, "more than 262144 characters"),
        ("WORKDIR /" + "a/" * 2100, "more than 4096 characters"),
        ('COPY "a b', "No closing quotation"),
        ("COPY a\0b c", "null byte"),
        ("COPY " + "a" * 300 + " c", "File name too long"),
        ("RUN " + "[" * 100_000, "is not a list of words"),
    ],
)
def test_what_a_dockerfile_makes_of_little_is_bounded(tmp_path: Path, dockerfile: str, message: str) -> None:
    """Such a task's image is built."""
    folder = harbor_task(tmp_path / "task", **{DOCKERFILE: f"FROM x\n{dockerfile}"})
    with pytest.raises(FieldError, match=message):
        read_dockerfile(folder)
    build = only(folder).build
    assert build is not None
    assert message in build.required


@pytest.mark.parametrize("content", [b"text", b"\xff"])
def test_links_do_not_multiply_the_files_that_they_lead_to(tmp_path: Path, content: bytes) -> None:
    few, many = harbor_task(tmp_path / "few"), harbor_task(tmp_path / "many")
    for folder, count in ((few, 3), (many, 10)):
        (folder / "tests/large").write_bytes(content * 100_000)
        for number in range(count):
            (folder / f"tests/link{number}").symlink_to("large")
    contract = only(few).scoring
    assert isinstance(contract, HarborContract)
    assert len({**contract.tests, **contract.binary_tests}) == 6
    (mistake,) = mistakes_of(many)
    assert "links in tests have the same files read more than 4 times" in str(mistake)


@pytest.mark.parametrize(
    "toml",
    [
        "x = " + "1" * 5000,
        "x = " + "[" * 5000,
        'environment = {memory = "' + "9" * 400 + 'G", docker_image = "x"}',
        "schema_version = 0x" + "1" * 9000,
        "# " + "x" * 64 * 1024,
    ],
    ids=["digits", "depth", "size", "hexadecimal", "long"],
)
def test_what_no_reader_takes_is_a_mistake_of_the_task(tmp_path: Path, toml: str) -> None:
    with pytest.raises(ValidationError, match="task"):
        import_scenarios(harbor_task(tmp_path / "task", **{"task.toml": toml}))
