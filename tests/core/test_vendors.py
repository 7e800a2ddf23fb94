"""Environments for programs in vendors/: made once, under the digest of their inputs, or a reason why not."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pipeline.core import vendors
from pipeline.core.errors import InfrastructureError, UserError

NAME = "tool"
#: stands in for uv: records its arguments, and makes the interpreter as `uv venv FOLDER` does
UV = """\
#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
[ -z "$VIRTUAL_ENV" ] || { echo "would change the wrong environment" >&2; exit 9; }
if [ "$1" = venv ]; then mkdir -p "$5/bin" && : > "$5/bin/python"; fi
"""


class Uv:
    """A stand-in for uv, and a folder `vendors/tool`."""

    def __init__(self, folder: Path) -> None:
        self.binary, self.requirements = folder / "uv", folder / "vendors" / NAME / "requirements.txt"
        self.requirements.parent.mkdir(parents=True)
        self.requirements.write_text("tool==1.0 --hash=sha256:0\n")
        self.becomes(UV)

    def becomes(self, script: str) -> None:
        self.binary.write_text(script)
        self.binary.chmod(self.binary.stat().st_mode | stat.S_IXUSR)

    @property
    def asked(self) -> list[str]:
        notes = self.binary.with_name("asked")
        return notes.read_text().splitlines() if notes.exists() else []


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Uv:
    made = Uv(tmp_path)
    monkeypatch.setattr(vendors, "VENDORS", tmp_path / "vendors")
    monkeypatch.setattr(vendors, "_uv_binary", lambda: str(made.binary))
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIRTUAL_ENV", "/somewhere/else")
    return made


def silent(_: str) -> None:
    """Messages go nowhere."""


def test_an_environment_is_made_once(uv: Uv) -> None:
    messages = list[str]()
    assert not vendors.has_environment(NAME)
    first = vendors.vendor_python(NAME, messages.append)
    assert first.is_file() and vendors.has_environment(NAME)
    assert vendors.vendor_python(NAME, messages.append) == first
    assert [line.split()[0] for line in uv.asked] == ["venv", "pip"]
    assert len(messages) == 1 and f"environment of {NAME}" in messages[0]


def test_an_environment_is_installed_by_hash_only(uv: Uv) -> None:
    vendors.vendor_python(NAME, silent)
    assert "--require-hashes" in uv.asked[1] and uv.asked[1].endswith(str(uv.requirements))


def test_other_requirements_are_another_environment(uv: Uv) -> None:
    first = vendors.vendor_python(NAME, silent)
    uv.requirements.write_text("tool==1.1 --hash=sha256:1\n")
    assert not vendors.has_environment(NAME)
    assert vendors.vendor_python(NAME, silent) != first


def test_a_failed_environment_is_reported_and_made_again(uv: Uv) -> None:
    uv.becomes("#!/bin/sh\necho 'no such version: tool==1.0' >&2\nexit 1\n")
    with pytest.raises(InfrastructureError, match=r"uv venv failed:\nno such version: tool==1\.0") as error:
        vendors.vendor_python(NAME, silent)
    assert error.value.cause == "install" and not vendors.has_environment(NAME)
    uv.becomes(UV)
    assert vendors.vendor_python(NAME, silent).is_file()


def test_a_long_message_keeps_its_end(uv: Uv) -> None:
    uv.becomes("#!/bin/sh\nyes 'a line of a log' | head -5000 >&2\necho 'the end' >&2\nexit 1\n")
    with pytest.raises(InfrastructureError) as error:
        vendors.vendor_python(NAME, silent)
    assert str(error.value).endswith("the end") and len(str(error.value)) < 2100


def test_a_missing_uv_is_reported_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise FileNotFoundError("uv")

    monkeypatch.setattr("uv.find_uv_bin", missing)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="uv is not installed") as error:
        vendors._uv_binary()
    assert "uv sync" in str(error.value.hint)


def test_a_uv_on_the_path_is_used(monkeypatch: pytest.MonkeyPatch, uv: Uv) -> None:
    def missing() -> str:
        raise FileNotFoundError("uv")

    monkeypatch.undo()
    monkeypatch.setattr("uv.find_uv_bin", missing)
    monkeypatch.setenv("PATH", str(uv.binary.parent))
    assert vendors._uv_binary() == str(uv.binary)


def test_every_folder_with_requirements_pins_them_with_hashes() -> None:
    files = sorted((Path(__file__).parents[2] / "vendors").glob("*/requirements.txt"))
    assert files
    for path in files:
        lines = [line for line in path.read_text().splitlines() if "==" in line and not line.lstrip().startswith("#")]
        assert lines and "--hash=sha256:" in path.read_text(), path
