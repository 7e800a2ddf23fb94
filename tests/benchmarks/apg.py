"""Whether our cases of pages agree with the ARIA Authoring Practices' own tests, on their own example pages.

`just bench apg --clone CLONE [--driver CHROMEDRIVER] [--page WORD] [--broken KIND] [--only-ours] [--json FILE]`, with a
clone of w3c/aria-practices (bare or not), a browser, npm, and Debian's chromium-driver for their tests. Ours run in the
engine of the track, on the page with its own scripts and styles in it; theirs as they are, in the same browser. With
`--load`, all example pages of the clone are loaded and audited in the engine, and nothing else. apg.toml says which
case is about which page, by which words, and why a side finds a fault where there should be none. A page may also be
broken first, in a way that both must notice. Exit code 1: something differs that is not explained, or is explained and
does not differ. Their tests run as the user nobody: name a clone that you trust.
"""

from __future__ import annotations

import base64
import html
import io
import json
import mimetypes
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import click

from pipeline.browser import executable
from pipeline.browser.fenced import NOBODY
from pipeline.core.console import say, table
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.store import digest
from pipeline.pages.cases import OWN, load_case
from pipeline.pages.engine import Code, Job, Limits, look

TABLE = Path(__file__).with_name("apg.toml")
CHROME = Path(__file__).with_name("apg_chrome.cjs")
#: the folders of their pages, and the parts of their manifest that their tests need
PATTERNS, PACKAGES = PurePosixPath("content", "patterns"), ("ava", "selenium-webdriver")
#: time limit of their tests of one page, in seconds
PATIENCE = 900
#: time limit of our tests of one page, in seconds
PATIENT = Limits(page=240, load=60)
#: largest picture in bytes: with a larger one, the source view in their pages takes minutes
LARGEST = 200_000
#: ways to break a page: replacements in its markup and scripts. None changes what is visible
BROKEN = {
    "states": (r"aria-(expanded|selected|checked|sort|activedescendant|modal)\b", r"data-was-\1"),
    "roles": (r"\brole=\"(?!alert|presentation|none)(\w+)\"", r'data-role="\1"'),
    "keys": (r"(['\"])keydown\1|\bonkeydown\b", r'"nokeydown"'),
}


class Page(NamedTuple):
    """A row of apg.toml."""

    case: str
    path: str
    tests: str = ""
    swaps: Sequence[tuple[str, str]] = ()
    explained: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).stem


@dataclass
class Found:
    """The results of both sides for a page: names of tests or assertions -> what is wrong, empty if nothing is."""

    page: Page
    ours: dict[str, str] = field(default_factory=dict)
    theirs: dict[str, str] = field(default_factory=dict)
    trouble: str = ""

    @property
    def differs(self) -> list[str]:
        """Faults that either side finds on a correct page, and that are not explained."""
        return [self.trouble] if self.trouble else failed(self.ours) + failed(self.theirs)

    @property
    def unexplained(self) -> list[str]:
        """Including explanations that are not needed."""
        known = set(self.page.explained)
        return [*(differ for differ in self.differs if differ not in known), *sorted(known - set(self.differs))]

    @property
    def one_sided(self) -> bool:
        """Whether only one side notices that a page is broken."""
        return bool(self.trouble) or bool(failed(self.ours)) != bool(failed(self.theirs))


def failed(results: Mapping[str, str]) -> list[str]:
    return [name for name, wrong in results.items() if wrong]


@click.command()
@click.option("--clone", required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--driver", default="/usr/bin/chromedriver", show_default=True, help="Debian's chromium-driver.")
@click.option("--page", "wanted", multiple=True, help="Pages whose path has this word [default: all].")
@click.option("--broken", type=click.Choice(sorted(BROKEN)), help="Break the pages first: both must find a fault.")
@click.option("--only-ours", is_flag=True, help="Without their tests: they are taken to find nothing wrong.")
@click.option("--load", is_flag=True, help="Only load all example pages of the clone in the engine.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write what was found.")
def main(
    clone: Path,
    driver: str,
    wanted: tuple[str, ...],
    broken: str | None,
    only_ours: bool,
    load: bool,
    path: Path | None,
) -> None:
    """Compare our cases with the tests of w3c/aria-practices on their example pages."""
    pages = [read for read in read_pages() if not wanted or any(word in read.path for word in wanted)]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        export(clone, folder)
        if load:
            raise SystemExit(_load(folder, wanted))
        if broken:
            break_pages(folder, pages, broken)
        if not only_ours:
            install(folder, driver)
        found = [_found(folder, page, driver, broken, only_ours) for page in pages]
    _show(found, broken)
    if path:
        rows = [
            {"page": result.page.path, "ours": result.ours, "theirs": result.theirs, "trouble": result.trouble}
            for result in found
        ]
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if any(result.one_sided if broken else result.unexplained for result in found):
        raise SystemExit(1)


def _found(folder: Path, page: Page, driver: str, broken: str | None, only_ours: bool) -> Found:
    made = Found(page, ours(folder, page))
    if page.tests and not only_ours:
        made.theirs, made.trouble = theirs(folder, page, driver)
    counts = f"ours {_count(made.ours)}, theirs {_count(made.theirs)}"
    say(f"{page.path}{f' without {broken}' if broken else ''}: {counts} {made.trouble}".rstrip())
    return made


def _load(folder: Path, wanted: Sequence[str]) -> int:
    """Load the example pages, and show those that do not load; 1 if there are any, or no page at all."""
    names = [path.relative_to(folder / PATTERNS) for path in sorted((folder / PATTERNS).glob("*/examples/*.html"))]
    chosen = [name for name in names if not wanted or any(word in str(name) for word in wanted)]
    lost = [(str(page_path), why) for page_path in chosen if (why := unloaded(folder / PATTERNS / page_path))]
    if lost:
        table("Pages that do not load", ("page", "why"), lost)
    say(f"{len(chosen) - len(lost)} of {len(chosen)} example pages load and are audited")
    return int(bool(lost) or not chosen)


def _show(found: Sequence[Found], broken: str | None) -> None:
    rows = []
    for one in found:
        differs = ("one side alone" if one.one_sided else "") if broken else "; ".join(one.unexplained)
        rows.append((one.page.path, one.page.case, _count(one.ours), _count(one.theirs), differs))
    table("Ours beside theirs", ("page", "case", "ours hold", "theirs hold", "differs"), rows)


def _count(results: Mapping[str, str]) -> str:
    return f"{len(results) - len(failed(results))} of {len(results)}"


# -- their clone -------------------------------------------------------------------------------------------------------
def read_pages() -> list[Page]:
    """Read the rows of apg.toml."""
    return [Page(**row) for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["page"]]


def export(clone: Path, folder: Path) -> None:
    """Pages, tests and manifest of the newest commit."""
    words = ["git", "-C", str(clone), "archive", "HEAD", "content", "test", "package.json"]
    packed = subprocess.run(words, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(folder, filter="data")


def break_pages(folder: Path, pages: Iterable[Page], kind: str) -> None:
    """Rewrite pages and their scripts. Documentation in the same file is left alone, since tests do not look at it."""
    pattern, instead = BROKEN[kind]
    for page in pages:
        here = (folder / PATTERNS / page.path).parent
        for path in (*here.glob("*.html"), *here.glob("js/*.js")):
            text = path.read_text(encoding="utf-8")
            path.write_text(re.sub(pattern, instead, text), encoding="utf-8")


# -- ours --------------------------------------------------------------------------------------------------------------
def ours(folder: Path, page: Page) -> dict[str, str]:
    """Our assertions on the page. Raises InfrastructureError if the engine cannot finish."""
    text = inlined(folder / PATTERNS / page.path)
    files = {"test.js": adapted(page).encode()}
    code = Code(digest(files["test.js"]), files, False, {"selectors": [], "words": []})
    seen = look(Job(text, code, limits=PATIENT)).observed
    if seen.ended or seen.fault or seen.threw or seen.machine or seen.off_task:
        why = seen.machine or seen.fault or seen.threw or seen.off_task or f"{seen.ended}: {seen.detail}"
        raise InfrastructureError(f"{page.path}: {why}", cause="browser")
    return {
        assertion.name: (assertion.message or "it fails") if assertion.status == "fail" else ""
        for assertion in seen.assertions
    }


def unloaded(path: Path) -> str:
    """Why the engine cannot load and audit a page; empty if it can."""
    seen = look(Job(inlined(path), limits=PATIENT)).observed
    return "" if seen.audits and not seen.ended else seen.machine or f"{seen.ended}: {seen.detail}"


def adapted(page: Page) -> str:
    """The case's test with the page's words. Raises UserError for a replacement that changes nothing."""
    text = (load_case(OWN / page.case).folder / "test.js").read_text(encoding="utf-8")
    for old, new in page.swaps:
        if old not in text:
            raise UserError(f"{page.path}: the test of {page.case} has no {old!r}", path=TABLE, field="swaps")
        text = text.replace(old, new)
    return text + "\ndelete module.exports.runAxe;\ndelete module.exports.onTask;\n"


def inlined(path: Path) -> str:
    """A page with its own scripts, styles and pictures inlined; those from other sites are left out."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<img\b[^>]*>", lambda match: _picture(path.parent, match[0]), text)
    text = re.sub(r"<link\b[^>]*>", lambda match: _style(path.parent, match[0]), text)
    return re.sub(r"<script\b([^>]*)>\s*</script>", lambda match: _script(path.parent, match[0], match[1]), text)


def _style(folder: Path, tag: str) -> str:
    attributes = _attributes(tag)
    if "stylesheet" not in attributes.get("rel", ""):
        return tag
    css = _beside(folder, attributes.get("href", ""))
    return f"<style>{css.replace('</style', '<!/style')}</style>" if css else ""


def _script(folder: Path, whole: str, tag: str) -> str:
    attributes = _attributes(tag)
    if "src" not in attributes:
        return whole
    others = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items() if name != "src")
    code = _beside(folder, attributes["src"]).replace("</script", "<\\/script")
    return f"<script{others}>{code}</script>"


def _picture(folder: Path, tag: str) -> str:
    """The picture keeps its size, since clipping depends on it."""
    address = _attributes(tag).get("src", "")
    path = folder / address
    if "://" in address or not path.is_file() or path.stat().st_size > LARGEST:
        return tag
    kind = mimetypes.guess_type(path.name)[0] or "image/png"
    return tag.replace(address, f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}")


def _attributes(tag: str) -> dict[str, str]:
    return {match[1].lower(): html.unescape(match[2]) for match in re.finditer(r"([\w-]+)\s*=\s*\"([^\"]*)\"", tag)}


def _beside(folder: Path, address: str) -> str:
    """A file that a page refers to; None if it does not exist or lies elsewhere."""
    path = folder / address.partition("?")[0]
    return path.read_text(encoding="utf-8", errors="replace") if "://" not in address and path.is_file() else ""


# -- theirs ------------------------------------------------------------------------------------------------------------
def install(folder: Path, driver: str) -> None:
    """Install what their tests need from npm. Raises UserError without a driver, and InfrastructureError."""
    if not Path(driver).exists():
        raise UserError(f"there is no {driver}", hint="install Debian's chromium-driver, or name it by --driver")
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    manifest = {"private": True, "dependencies": {name: wanted[name] for name in PACKAGES}}
    (folder / "package.json").write_text(json.dumps({**manifest, "ava": {"files": ["test/tests/*"]}}), encoding="utf-8")
    words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise InfrastructureError(f"npm: {done.stderr.strip()[-500:]}", cause="registry")
    shutil.copy(CHROME, folder / CHROME.name)
    for theirs in (folder / "home", folder / "node_modules" / ".cache"):
        theirs.mkdir(exist_ok=True)
        if not os.geteuid():
            shutil.chown(theirs, NOBODY, NOBODY)


def theirs(folder: Path, page: Page, driver: str) -> tuple[dict[str, str], str]:
    """The results of their tests on the page, or why there are none."""
    surroundings = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "home"),
        "NODE_OPTIONS": f"--require={folder / CHROME.name}",
        "A11Y_DRIVER": driver,
        "A11Y_BROWSER": executable() or "",
        "CI": "1",
    }
    words = ["node_modules/.bin/ava", "--tap", "--timeout=5m", f"test/tests/{page.tests}.js"]
    how: dict[str, Any] = {"cwd": folder, "env": surroundings, "start_new_session": True}
    how |= {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how) as process:
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            output = ""
        finally:
            _end(process.pid)
    results = dict(tap(output))
    return results, "" if results else f"their tests say nothing: {output.strip()[-300:]}"


def _end(group: int) -> None:
    try:
        os.killpg(group, 9)
    except ProcessLookupError:
        return


def tap(text: str) -> Iterator[tuple[str, str]]:
    """The tests in a TAP report, by subject and message, and what is wrong; skipped tests are left out."""
    for line in text.splitlines():
        if (match := re.match(r"(not )?ok \d+ - (.*)$", line)) and not re.search(r"# (SKIP|TODO)", match[2]):
            yield re.sub(r"^.*\[data-test-id=\"?([^\"\]]+)\"?\]", r"\1", match[2]), "it fails" if match[1] else ""


if __name__ == "__main__":
    main()
