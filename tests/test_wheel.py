"""What a user installs: the wheel, apart from the checkout it was built from."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LESSON = "03_degeneracy.ipynb"
"""It needs no routing kernels, which a new place would compile again."""
WITHOUT_CHECKOUT = f"import sys; sys.path = [p for p in sys.path if p != {str(ROOT)!r}]\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds the wheel's content, as an installer lays it out."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT_CHECKOUT + script],
        cwd=installed.parent,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_wheel_claims_one_name(installed: Path) -> None:
    """Catches a folder of the repository that would be installed under a generic name."""
    names = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert names == {"olprouting"}
    refused = run(installed, "import models")
    assert "No module named 'models'" in refused.stderr


def test_the_wheel_has_every_model_and_the_data(installed: Path) -> None:
    """Catches models or data that only a checkout finds."""
    models = {path.name for path in (ROOT / "models").glob("*.py")}
    assert {path.name for path in (installed / "olprouting" / "models").iterdir()} == models
    script = (
        "import olprouting as olp, olprouting.models.imbalance_assignment as model\n"
        "assert olp.example('e2').workers == 3\n"
        "print(model.__file__, model.build.__name__, len(olp.instance_names()))"
    )
    done = run(installed, script)
    assert done.returncode == 0, done.stderr
    file, name, instances = done.stdout.rsplit(maxsplit=2)
    assert Path(file) == installed / "olprouting" / "models" / "imbalance_assignment.py"
    assert (name, int(instances) > 0) == ("build", True)


def test_a_lesson_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Catches a notebook or an example that only a checkout has."""
    copy = "import sys; sys.argv[1:] = ['examples', 'copy', {!r}]\n"
    copy += "from olprouting.__main__ import main; main()"
    done = run(installed, copy.format(str(tmp_path)))
    assert done.returncode == 0, done.stderr
    lessons = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {path.name for path in tmp_path.glob("notebooks/*.ipynb")} == lessons
    execute = [sys.executable, "-P", "notebooks/execute.py", LESSON]
    environment = os.environ | {"PYTHONPATH": str(installed)}
    done = subprocess.run(
        execute, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert LESSON in done.stdout
