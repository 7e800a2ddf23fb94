"""The console program `a11y-bench`: one sub-command per stage, each imported when it is called and not before."""

from __future__ import annotations

import errno
import gc
import signal
import sys
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from pipeline import __version__
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.recipes import runnable
from pipeline.core.shipped import ROOT

#: objects that are made before Python looks for garbage, 700 by default: readers make hundreds of thousands of records
GARBAGE = 100_000
#: sub-command -> (module with `command`, the line that the overview shows), in the order of the pipeline
COMMANDS = {
    "demo": ("pipeline.demo.cli", "Run all stages on the embedded benchmark and check every outcome."),
    "doctor": ("pipeline.doctor", "Check what this machine has, and show how to get what is missing."),
    "collect": ("pipeline.collect.cli", "01: find accessibility pull requests in a repository."),
    "decide": ("pipeline.collect.decide", "01: record your decision to include, exclude or change a pull request."),
    "select": ("pipeline.collect.select", "01: show which repositories meet the selection criteria."),
    "triage": ("pipeline.triage.cli", "00: rate candidates, add WCAG metadata."),
    "environment": (
        "pipeline.build.show",
        "02: show the environments inferred for candidates, with evidence.",
    ),
    "build": ("pipeline.build.cli", "02: make environments and qualify candidates as instances."),
    "gc": ("pipeline.build.gc", "02: remove layers and caches that no dataset refers to."),
    "images": ("pipeline.build.images", "02: share the images of datasets through an image registry."),
    "predict": ("pipeline.predict.cli", "03: let an agent write patches."),
    "evaluate": ("pipeline.evaluate.cli", "04: run patches against the tests."),
    "regrade": ("pipeline.evaluate.cli_regrade", "04: recompute the verdicts from stored runs."),
    "assess": (
        "pipeline.evaluate.assess.cli",
        "04: assess the accessibility of patches, in addition to the verdict.",
    ),
    "analyze": ("pipeline.analyze.cli", "05: make tables, figures and the report."),
    "handcheck": (
        "pipeline.analyze.handcheck.cli",
        "05: let people check patches by hand, without seeing which model made them.",
    ),
    "pages": ("pipeline.pages.cli", "The page track: can a model write an accessible page?"),
    "run": ("pipeline.campaign.single", "Run stages 01 to 05 for one repository and model."),
    "campaign": (
        "pipeline.campaign.cli",
        "Run everything that a campaign file asks for: datasets, agents, models, pages.",
    ),
    "dataset": ("pipeline.dataset.cli", "Check, export, measure, publish and rebuild datasets."),
    "runs": ("pipeline.inspection.cli", "List, show, compare and remove runs."),
    "show": ("pipeline.inspection.instance", "Show one instance: its statement, gold and the answers side by side."),
    "open": ("pipeline.inspection.report", "Open the report."),
    "submission": ("pipeline.submission.cli", "Pack, verify, regrade and rank submissions."),
    "scheduler": (
        "pipeline.workers.scheduler",
        "Start the scheduler, which passes work from commands with --engine dask to workers.",
    ),
    "worker": ("pipeline.workers.worker", "Perform units of work for commands on other machines."),
    "remote": ("pipeline.remote.cli", "Work on a server: prepare it, send data, run recipes, fetch results."),
    "migrate": ("pipeline.migrate.cli", "Convert a data directory of an older version."),
    "models": ("pipeline.models", "List the models that can be used, with prices and context sizes."),
    "costs": ("pipeline.costs", "Show what each experiment spent, and check the sums."),
    "schema": ("pipeline.schema", "Print the JSON Schema of a record."),
}


#: installs all optional packages: in a checkout, or from the wheel
_INSTALL = "uv sync --all-extras" if (ROOT / "justfile").is_file() else "pip install 'a11y-bench[distributed]'"
#: system errors for a path that the user named and that cannot be used
REFUSED = frozenset(
    (
        errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EEXIST,
        errno.ELOOP,
    )
)  # fmt: skip


class Program(click.Group):
    """A group that knows its commands by name and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return import_module(COMMANDS[cmd_name][0]).command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"no command '{args[0]}'; available: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of commands, without importing them, since a shell waits for this."""
        return [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__)
def program() -> None:
    """Turn accessibility pull requests into executable repair tasks, and measure how well models and agents solve them.

    The stages communicate only through files in data/ (see data/README.md). Start with: a11y-bench demo
    """


def main() -> None:
    """Run the program. Exit codes: 0 success, 1 something failed, 2 bad input (nothing was written), 130 interrupted.

    SIGTERM stops a command at once, like a second Ctrl-C, and leaves nothing behind.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    gc.set_threshold(GARBAGE)
    try:
        sys.exit(program.main(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; the same command resumes", err=True)
        sys.exit(130)
    except ModuleNotFoundError as error:
        click.echo(f"error: the Python package '{error.name}' is not installed\n  run: {_INSTALL}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}", err=True)
        sys.exit(2 if error.errno in REFUSED else 1)
    except A11yBenchError as error:
        click.echo(f"error: {runnable(str(error))}", err=True)
        sys.exit(2 if isinstance(error, UserError) else 1)
