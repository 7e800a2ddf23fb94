"""The base image that docker/base/build.sh makes: kept if unchanged, complete, and free of the host's data.

Not covered: pulling it, which needs an image registry.
"""

import re

import pytest
from docker_scripts import BUILD, run

CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def image() -> str:
    """The base image, made now or kept from before."""
    built = run(BUILD)
    assert built.returncode == 0, built.stderr
    return built.stdout.split()[0]


def in_image(image: str, script: str) -> str:
    """The output of a shell script in a container of `image`, without network."""
    done = run("docker", "run", "--rm", "--network=none", image, "bash", "-euc", script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_second_build_keeps_the_image(image: str) -> None:
    again = run(BUILD)
    assert "kept" in again.stderr
    assert again.stdout == run(BUILD).stdout
    assert re.fullmatch(rf"{re.escape(image)} sha256:[0-9a-f]{{64}} \d+MB\n", again.stdout)


def test_image_has_its_label_folder_and_variables(image: str) -> None:
    template = '{{index .Config.Labels "a11y-bench.layer"}} {{.Config.WorkingDir}} {{.Config.Env}}'
    shown = run("docker", "image", "inspect", "--format", template, image).stdout
    assert shown.startswith("base /workspace [LANG=C.UTF-8 PATH=")


def test_image_has_the_tools_the_user_and_the_workspace(image: str) -> None:
    assert in_image(image, "for tool in git curl xz ps; do command -v $tool; done").count("\n") == 4
    owned = in_image(image, "id -u bench; stat -c '%U %a' /workspace /home/bench; ls -A /workspace")
    assert owned.splitlines() == ["1000", "bench 755", "bench 755"]


@pytest.mark.invariant(6)
def test_image_trusts_only_debians_own_certificates(image: str) -> None:
    """A host behind a TLS-inspecting proxy trusts an authority that a published image must not trust."""
    debians = CERTIFICATE.findall(
        in_image(image, "dpkg -L ca-certificates | grep '^/usr/share/ca-certificates/.*\\.crt$' | xargs cat")
    )
    trusted = CERTIFICATE.findall(in_image(image, "cat /etc/ssl/certs/ca-certificates.crt"))
    assert len(debians) > 100
    assert set(trusted) <= set(debians)
    altered = "dpkg --verify ca-certificates | grep -v ^missing || true"  # documentation is missing on purpose
    assert in_image(image, f"{altered}; ls -A /usr/local/share/ca-certificates") == ""
    found = in_image(image, "find / -xdev -type f '(' -name '*.crt' -o -name '*.pem' ')'").split()
    strays = [path for path in found if not path.startswith("/usr/share/ca-certificates/")]
    assert strays == ["/etc/ssl/certs/ca-certificates.crt"]


@pytest.mark.invariant(6)
def test_image_names_no_mirror_of_the_host(image: str) -> None:
    """The URL of a private mirror may contain a password."""
    servers = in_image(image, "cat /etc/apt/sources.list.d/*; test ! -e /etc/apt/sources.list; ls /var/lib/apt/lists")
    assert set(re.findall(r"https?://([^/\s]+)", servers)) == {"deb.debian.org"}
