"""Every major version of every runner that the registry still has, with its own project, in the engine.

`just bench runners [--runner NAME ...] [--version VERSION ...] [--keep FOLDER] [--json FILE]`. The versions are those
in the table `matrix` of `tests/ecosystems/runners/NAME/expected.toml`. Writes a temporary folder, and the output of
runs with unexpected results to FOLDER; the resulting images are removed.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
import runner_matrix

from benchmarks.goals import Figure, report
from pipeline.core.cache import cache_root
from pipeline.core.console import say
from pipeline.core.errors import A11yBenchError
from pipeline.ecosystems import all_runners
from pipeline.sandbox.docker.sandbox import DockerSandbox


@click.command()
@click.option("--runner", "names", multiple=True, help="Only this one (may be given several times).")
@click.option("--version", "versions", multiple=True, help="Only this version (may be given several times).")
@click.option(
    "--keep", type=click.Path(path_type=Path, file_okay=False), help="Folder for the logs of those that fail."
)
@click.option("--json", "path", type=click.Path(path_type=Path), help="The figures as JSON.")
def main(names: tuple[str, ...], versions: tuple[str, ...], keep: Path | None, path: Path | None) -> None:
    """Run the matrix, and report versions with unexpected results."""
    sandbox, figures = DockerSandbox(cache_root()), []
    sandbox.check()
    for name in names or tuple(all_runners()):
        wanted = [major for major in runner_matrix.majors(name) if not versions or major in versions]
        with TemporaryDirectory(prefix="a11y-bench-runners-") as folder:
            wrong = [version for version in wanted if not _right(sandbox, Path(folder), name, version, keep)]
        figures.append(Figure(f"{name}: versions that say otherwise", len(wrong), f"of {len(wanted)}", ("at most", 0)))
    report("Runners by version", figures, path)


def _right(sandbox: DockerSandbox, folder: Path, name: str, version: str, keep: Path | None) -> bool:
    try:
        run = runner_matrix.tried(sandbox, folder, name, version)
        problems, log = runner_matrix.differences(name, run), run.log + b"\n----\n" + run.report
    except A11yBenchError as error:
        problems, log = [f"{type(error).__name__}: {error}"], getattr(error, "log", "").encode()
    say(f"{name} {version}: {'as expected' if not problems else '; '.join(problems)}")
    if problems and keep:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}-{version}.log").write_bytes(log)
    return not problems


if __name__ == "__main__":
    main()
