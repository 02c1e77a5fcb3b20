"""What a fresh interpreter loads with `import harena`, with a template and with the first job."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_MODULES_OF_IMPORT_HARENA = 60
MOST_MODULES_OF_THE_SDK = 235
"""modules that `import harena`, and then all its public names, add to a bare interpreter, standard library included"""

LOADED = """
import json, sys
before = set(sys.modules)
import harena
by_import = set(sys.modules) - before
for name in harena.__all__:
    getattr(harena, name)
print(json.dumps([sorted(by_import), sorted(set(sys.modules) - before)]))
"""


@pytest.fixture(scope="module")
def loaded() -> tuple[set[str], set[str]]:
    """The modules that `import harena` adds, and those that all its public names add, in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, cwd=ROOT)
    by_import, by_names = json.loads(done.stdout)
    return set(by_import), set(by_names)


def test_import_harena_loads_no_third_party_module(loaded: tuple[set[str], set[str]]) -> None:
    """No torch, no SQL, no web framework, no models library: those come with the node, which the first verb starts."""
    foreign = {name.split(".")[0] for name in loaded[1]} - {"harena", *sys.stdlib_module_names}
    assert foreign == set()


def test_import_harena_loads_no_room_behind_the_sdk(loaded: tuple[set[str], set[str]]) -> None:
    """Sandboxes that are never made cost nothing."""
    second = {name.split(".")[1] for name in loaded[1] if name.startswith("harena.")}
    assert {name for name in second if (ROOT / "src/harena" / name).is_dir()} <= {"core", "sdk"}


def test_import_harena_stays_light(loaded: tuple[set[str], set[str]]) -> None:
    """Counted in modules: time depends on the machine, and each module costs some."""
    assert len(loaded[0]) <= MOST_MODULES_OF_IMPORT_HARENA
    assert len(loaded[1]) <= MOST_MODULES_OF_THE_SDK


def test_a_session_alone_makes_sandboxes() -> None:
    """Also in a program that has never said `Sandbox`."""
    program = "from harena import Session; print(type(Session().sandbox()).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("Sandbox\n", "")


def test_what_a_template_knows_of_scoring_needs_no_models() -> None:
    """The first job's template starts while the models are loaded, and takes the driver along."""
    code = (
        "import json, sys\n"
        "from harena.scoring.scorers import driver_boot\n"
        "driver_boot.known_program()\n"
        "models = ('pydantic', 'harena.scoring.scenario', 'harena.scoring.score')\n"
        "print(json.dumps([name for name in models if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(done.stdout) == []


def ends_well(code: str) -> None:
    """A fresh interpreter runs it, says nothing and ends with 0: what is wrong is its exit message."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_sandbox_loads_no_records_of_jobs_and_builds() -> None:
    """Each record takes half a millisecond to be made, and the first result waits for all of them."""
    code = (
        "import sys\n"
        "from harena.node import load_embedded\n"
        "load_embedded()\n"
        "names = ('benchmark_jobs', 'calibrations', 'catalog', 'image_builds')\n"
        "others = [f'harena.core.records.{name}' for name in names]\n"
        "sys.exit(' '.join(name for name in others if name in sys.modules) or 0)"
    )
    ends_well(code)


def test_the_first_job_loads_what_it_needs() -> None:
    """What some contracts and formats alone need comes with them."""
    code = (
        "import sys\n"
        "from harena.node import load_embedded\n"
        "from harena.node.parts import _load_jobs\n"
        "load_embedded()\n"
        "_load_jobs()\n"
        "rare = ['http.client', 'urllib.request', 'tomllib', 'pickletools', 'alembic', 'aiosqlite', 'rich', 'typer']\n"
        "rare += ['unittest', 'yaml']\n"
        "rare += [f'harena.scoring.scorers.{name}' for name in ('command', 'command_forms', 'harbor', 'judgement')]\n"
        "rare += [f'harena.scoring.formats.{name}' for name in ('answers', 'dockerfile', 'harbor', 'terminal_bench')]\n"
        "rare += [f'harena.core.records.{name}' for name in ('images', 'objects', 'training_jobs', 'training_plans')]\n"
        "rare += [f'harena.core.records.{name}' for name in ('calibrations', 'catalog')]\n"
        "sys.exit(' '.join(name for name in rare if name in sys.modules) or 0)"
    )
    ends_well(code)


def test_a_job_loads_its_scorers_as_its_scenarios_are_read() -> None:
    """And no others. Where a run loaded one, all runs beside it would wait."""
    code = (
        "import sys, types\n"
        "from harena.jobs.benchmark.job_scenarios import read_job\n"
        "def row(identity, scoring):\n"
        "    candidate = {'files': {'a.py': 'def f(x): return x'}, 'entry': 'a.py'}\n"
        "    return {'id': identity, 'candidate': candidate, 'scoring': scoring}\n"
        "checks = {'type': 'tests', 'entry_point': 'f', 'checks': [{'args': [1], 'expected': 1}]}\n"
        "lines = {'type': 'stdio', 'cases': [{'stdin': '', 'stdout': ''}]}\n"
        "both = {'type': 'weighted', 'parts': {'checks': {'scoring': checks}, 'lines': {'scoring': lines}}}\n"
        "for scoring, wanted in ((checks, set()), (both, {'weighted', 'output'})):\n"
        "    read_job({'scenarios': [row('one', checks), row('two', scoring)]}, types.SimpleNamespace(contract=None))\n"
        "    room = 'harena.scoring.scorers.'\n"
        "    others = ('weighted', 'output', 'command_forms', 'harbor')\n"
        "    names = {name for name in others if room + name in sys.modules}\n"
        "    if names != wanted:\n"
        "        sys.exit(f'{names}, {wanted}')"
    )
    ends_well(code)


def test_test_code_of_a_data_set_loads_no_other_form_of_its_contract() -> None:
    """What suites and trusted commands need takes three times as long to be loaded as what such code does."""
    code = (
        "import sys, types\n"
        "from harena.jobs.benchmark.job_scenarios import read_job\n"
        "row = {'task_id': 'HumanEval/0', 'prompt': 'def f(x):\\n', 'entry_point': 'f',\n"
        "       'canonical_solution': '    return x + 0.1\\n',\n"
        "       'test': 'def check(candidate):\\n    for _ in range(9):\\n        assert candidate(1) > 1\\n'}\n"
        "job = read_job({'scenarios': [row]}, types.SimpleNamespace(contract=None))\n"
        "room = 'harena.scoring.scorers.'\n"
        "if job.scenarios[0].scoring.type != 'command' or room + 'command_forms' not in sys.modules:\n"
        "    sys.exit('it is no test code')\n"
        "names = ('suite', 'command', 'changed_expectations', 'literal_control', 'start_up_files', 'defined_tests',\n"
        "         'computed_flow', 'verifier_leftovers', 'skip_conditions')\n"
        "sys.exit(' '.join(name for name in names if room + name in sys.modules) or 0)"
    )
    ends_well(code)


def test_a_server_has_loaded_all_scorers_before_there_are_requests() -> None:
    """A scorer that is loaded with the first contract of its kind would hold up every workspace."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from harena.node.parts import load_for_server\n"
        "load_for_server()\n"
        "import harena.scoring.scorers as room\n"
        "names = {f'{room.__name__}.{path.stem}' for path in Path(room.__file__).parent.glob('[!_]*.py')}\n"
        "names -= {f'{room.__name__}.{name}' for name in ('weak_lines', 'shell_words')}  # of calibrations\n"
        "sys.exit(' '.join(sorted(names - sys.modules.keys())) or 0)"
    )
    ends_well(code)


def test_the_package_runs_as_its_program() -> None:
    """Where a console script is not on PATH."""
    said = subprocess.run([sys.executable, "-m", "harena", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("harena ")
