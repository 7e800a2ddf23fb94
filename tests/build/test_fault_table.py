"""The table of known faults against real output of managers and runners: excerpts of logs, one case each.

The cases of versions that are gone, refusing hosts, lock files and checksums were provoked with the named managers.
"""

from __future__ import annotations

import time

import pytest

from pipeline.build import faults
from pipeline.build.reasons import REASONS
from pipeline.build.remedies import REMEDIES

GONE = {"name": "is-number", "old": "7.0.99"}
NOBODY = {"name": "@no/body"}
ADDRESS = "https://registry.example.org"
#: fault, what is captured, log
INSTALL = [
    # yarn 1.22.22
    ("version-gone", GONE, f'error Error: {ADDRESS}/is-number/-/is-number-7.0.99.tgz: Request failed "404 Not Found"'),
    ("version-gone", GONE, 'error Couldn\'t find any versions for "is-number" that matches "7.0.99"'),
    ("version-gone", NOBODY, 'error Couldn\'t find package "@no/body" on the "npm" registry.'),
    ("version-gone", NOBODY, 'error Couldn\'t find package "@no/body" required by "a@1" on the "npm" registry.'),
    # yarn 4.12.0
    ("yarn-scripts", {}, "➤ YN0009: │ acme@workspace:. couldn't be built successfully (exit code 1, logs can be found"),
    (
        "host-refused",
        {"host": "github.com"},
        "error Error: getaddrinfo ENOTFOUND github.com\n    at GetAddrInfoReqWrap",
    ),
    (
        "host-refused",
        {"host": "codeload.github.com"},
        'error Error: "https://codeload.github.com/a/b/tar.gz/1: Request failed \\"403 Forbidden\\"".',
    ),
    (
        "lock-file-outdated",
        {},
        "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.",
    ),
    ("checksum-of-yarn", {}, 'error Integrity check failed for "a" (computed integrity doesn\'t match our records)'),
    (
        "engine-rules",
        {"node": "18"},
        'error a@2.0.0: The engine "node" is incompatible with this module. Expected version ">=18". Got "16.20.2"',
    ),
    ("secret-asked-for", {"variable": "NPM_TOKEN"}, "error Failed to replace env in config: ${NPM_TOKEN}"),
    # yarn 2.1.1, 3.8.7, 4.5.3 and 4.12.0
    (
        "version-gone",
        GONE,
        "➤ YN0035: │ is-number@npm:7.0.99: Package not found\n➤ YN0035: │   Response Code: 404 (Not Found)",
    ),
    (
        "version-gone",
        {"name": "@no/body", "old": "^1.0.0"},
        "➤ YN0035: │ @no/body@npm:^1.0.0: The remote server failed to provide the requested resource\n"
        "➤ YN0035: │   Response Code: \x1b]8;;x\x07404\x1b]8;;\x07 (Not Found)",
    ),
    ("version-gone", GONE, "➤ YN0001: │ HTTPError: is-number@npm:7.0.99: Response code 404 (Not Found)"),
    ("version-gone", GONE, "➤ YN0082: │ is-number@npm:7.0.99: No candidates found"),
    (
        "host-refused",
        {"host": "github.com"},
        "➤ YN0001: │   Fatal Error: unable to access 'https://github.com/a/b.git/': Could not resolve host: github.com",
    ),
    (
        "lock-file-outdated",
        {},
        "➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly",
    ),
    ("checksum-of-yarn", {}, "➤ YN0018: │ a@npm:1.0.0: The remote archive doesn't match the expected checksum"),
    ("yarn-plugins", {}, 'Internal Error: Cannot redefine settings "changesetBaseRefs"'),
    # yarn 4.6.0
    (
        "yarn-plugins",
        {},
        "➤ YN0001: │ Error: Unexpected error occurred - .nvmrc not found\n"
        "    at validateProject (/scratch/install/.yarn/plugins/@yarnpkg/plugin-check.cjs:1:171)\n"
        "    at t.triggerHook (/usr/lib/yarn.js:149:3724)",
    ),
    (
        "yarn-setting",
        {"setting": "httpsCaFilePath"},
        'Usage Error: Unrecognized or legacy configuration settings found: httpsCaFilePath - run "yarn config -v"',
    ),
    ("release-age", {}, '➤ YN0016: │ a@npm:^1.0.0: All versions satisfying "^1.0.0" are quarantined'),
    ("trust-rules", {}, "➤ YN0078: │ Invalid resolution a@npm:1 → npm:1.0.0"),
    (
        "manager-needs-newer-node",
        {"node": "18"},
        "Error: This tool requires a Node version compatible with >=18.12.0 (got 16.20.2).",
    ),
    ("secret-asked-for", {"variable": "TOKEN"}, "Usage Error: Environment variable not found (TOKEN) in .yarnrc.yml"),
    # npm 6, 8, 10 and 11
    ("version-gone", GONE, f"npm ERR! 404 Not Found - GET {ADDRESS}/is-number/-/is-number-7.0.99.tgz"),
    ("version-gone", GONE, f"npm error 404 Not Found - GET {ADDRESS}/is-number/-/is-number-7.0.99.tgz - Not found"),
    ("version-gone", NOBODY, f"npm error 404 Not Found - GET {ADDRESS}/@no%2fbody - Not found"),
    ("version-gone", GONE, "npm error notarget No matching version found for is-number@7.0.99."),
    (
        "host-refused",
        {"host": "github.com"},
        "npm error command git --no-replace-objects ls-remote ssh://git@github.com/a/b.git",
    ),
    (  # as a log is kept: without the user of an address
        "host-refused",
        {"host": "github.com"},
        "npm error command git --no-replace-objects ls-remote ssh://***@github.com/a/b.git",
    ),
    (
        "lock-file-outdated",
        {},
        "npm ERR! cipm can only install packages when your package.json and package-lock.json are in sync. Please",
    ),
    (
        "checksum",
        {"old": "sha512-AA==", "new": "sha512-BB=="},
        "npm error integrity checksum failed when using sha512: wanted sha512-AA== but got sha512-BB==. (3 b",
    ),
    (
        "lock-file-outdated",
        {},
        "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.",
    ),
    (
        "peers-not-locked",
        {"missing": "npm ERR! Missing: @a/b@1.2.0 from lock file\nnpm ERR! Missing: c@1.0.0 from lock file"},
        "npm ERR! `npm ci` can only install packages when your package.json and package-lock.json are in sync.\n"
        "npm ERR! \nnpm ERR! Missing: @a/b@1.2.0 from lock file\nnpm ERR! Missing: c@1.0.0 from lock file",
    ),
    (
        "lock-file-of-a-newer-npm",
        {"name": "fsevents"},
        "npm ERR! fsevents not accessible from jest-environment-enzyme:jest-haste-map\n\nnpm ERR! A complete log",
    ),
    (
        "manager-of-the-developers",
        {"wanted": "^8 || ~9.1"},
        'npm error EBADDEVENGINES Invalid semver version "^8 || ~9.1" does not match "10.9.2" for "packageManager"',
    ),
    (
        "manager-of-the-developers",
        {"wanted": "pnpm"},
        'npm error EBADDEVENGINES Invalid name "pnpm" does not match "npm" for "packageManager"',
    ),
    (
        "node-of-the-manager",
        {"node": "24.18.0"},
        "[WARN] GET https://nodejs.org/download/release/v24.18.0/node-v24.18.0-linux-x64.tar.gz error (ENOTFOUND).",
    ),
    (
        "node-of-the-developers",
        {"wanted": "^22"},
        'npm error EBADDEVENGINES Invalid semver version "^22" does not match "v20.20.2" for "runtime"',
    ),
    ("focus-refused", {}, "npm error No workspaces found:\nnpm error   --workspace=packages/a"),
    (
        "focus-refused",
        {},
        "Unknown Syntax Error: Command not found; did you mean:\n\n$ yarn workspaces list [-v,--verbose] [--json]\n"
        "While running workspaces focus @acme/root menu",
    ),
    ("version-gone", {"name": "-", "old": "0.0.1"}, f"npm error 404 Not Found - GET {ADDRESS}/-/-/--0.0.1.tgz"),
    ("version-gone", GONE, f"npm error 404 Not Found - GET {ADDRESS}:443/npm/is-number/-/is-number-7.0.99.tgz"),
    (
        "version-gone",
        {"name": "@a/b", "old": "1.0.0"},
        f"npm error 404 Not Found - GET {ADDRESS}/%40a%2Fb/-/b-1.0.0.tgz",
    ),
    ("version-gone", {"name": "a", "old": ">=1 <2"}, "npm error notarget No matching version found for a@>=1 <2."),
    (
        "version-gone",
        {"name": "a", "old": ">=1 <2"},
        " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for a@>=1 <2 while fetching it from https://r/",
    ),
    (
        "host-refused",
        {"host": "npm.example.org"},
        "npm error request to https://npm.example.org:443/a failed, reason: getaddrinfo ENOTFOUND npm.example.org",
    ),
    (
        "host-refused",
        {"host": "npm.example.org"},
        'error Error: "https://npm.example.org:443/a/-/a-1.0.0.tgz: Request failed \\"403 Forbidden\\"".',
    ),
    ("peer-rules", {}, "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve"),
    ("engine-rules", {}, "npm error code EBADENGINE"),
    (
        "day-unknown",
        {"name": "a", "old": "9.0.0"},
        "npm error notarget No matching version found for a@9.0.0 with a date before 5/6/2024, 12:00:00 AM.",
    ),
    (
        "staging",
        {},
        "npm ERR! ENOTDIR: not a directory, open '/r/node_modules/.staging/@types/cors-5d54d4f8/package.json'",
    ),
    (
        "day-unknown",
        {"name": "a", "old": "^2.4.0"},
        "npm ERR! notarget No matching version found for a@^2.4.0 with an Enjoy By date of 2016-11-22 00:00:00. Maybe",
    ),
    ("day-unknown", {"name": "is-number"}, "npm ERR! code ENOVERSIONS\nnpm ERR! No versions available for is-number\n"),
    ("native-build", {}, "npm error gyp ERR! stack Error: not found: make"),
    ("script-download-refused", {"host": "example.org"}, 'Cannot download "https://example.org/x.node": '),
    ("manager-needs-newer-node", {}, "npm does not support Node.js v10.24.1"),
    # pnpm 7 to 11
    ("version-gone", GONE, f" ERR_PNPM_FETCH_404  GET {ADDRESS}/is-number/-/is-number-7.0.99.tgz: Not Found - 404"),
    ("version-gone", NOBODY, f" ERR_PNPM_FETCH_404  GET {ADDRESS}/@no%2Fbody: Not Found - 404"),
    ("version-gone", GONE, " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for is-number@7.0.99"),
    (
        "version-gone",
        GONE,
        "[ERR_PNPM_NO_MATCHING_VERSION] No matching version found for is-number@7.0.99 while fetching",
    ),
    ("version-gone", GONE, f"[ERR_PNPM_FETCH_404] GET {ADDRESS}/is-number/-/is-number-7.0.99.tgz: Not Found - 404"),
    (
        "host-refused",
        {"host": "codeload.github.com"},
        "[WARN] GET https://codeload.github.com/acme/ui/tar.gz/0db8a86 error (ENOTFOUND). Will retry in 1 minute.",
    ),
    ("settings-of-a-newer-manager", {}, "[ERROR] packages field missing or empty"),
    (
        "lock-file-outdated",
        {},
        ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date',
    ),
    (
        "checksum",
        {"old": "sha512-AA==", "new": "sha512-BB=="},
        ' ERR_PNPM_TARBALL_INTEGRITY  Got unexpected checksum for "x". Wanted "sha512-AA==". Got "sha512-BB==".',
    ),
    ("peer-rules", {}, " ERR_PNPM_PEER_DEP_ISSUES  Unmet peer dependencies"),
    (
        "engine-rules",
        {"node": "20"},
        ' ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment\n\nYour Node version is incompatible with "a".\n\n'
        "Expected version: >=20\nGot: v18.20.8",
    ),
    ("settings-of-a-newer-manager", {}, " ERROR  packages field missing or empty\nFor help, run: pnpm help install"),
    ("manager-rules", {}, " ERR_PNPM_BAD_PM_VERSION  This project is configured to use v8.6.0 of pnpm."),
    ("release-age", {}, " ERR_PNPM_NO_MATURE_MATCHING_VERSION  Version 1.0.1 of a does not meet the minimumReleaseAge"),
    ("build-rules", {}, " ERR_PNPM_IGNORED_BUILDS  Ignored build scripts: esbuild"),
    ("trust-rules", {}, " ERR_PNPM_TRUST_DOWNGRADE  High-risk trust downgrade for a@1.0.0"),
    (
        "manager-needs-newer-node",
        {"node": "18"},
        "ERROR: This version of pnpm requires at least Node.js v18.12\nThe current version of Node.js is v16.20.2",
    ),
]
RUN = [
    ("old-hashes", {}, "  opensslErrorStack: [ 'error:03000086' ],\n  code: 'ERR_OSSL_EVP_UNSUPPORTED'"),
    (
        "modules-in-the-runner",
        {},
        "TypeError: A dynamic import callback was invoked without --experimental-vm-modules",
    ),
    (
        "platform-package",
        {"name": "@esbuild/linux-x64"},
        'Error: The package "@esbuild/linux-x64" could not be found, and is needed by esbuild.',
    ),
    (
        "platform-package",
        {"name": "@rollup/rollup-linux-x64-gnu"},
        "Error: Cannot find module '@rollup/rollup-linux-x64-gnu'\nRequire stack:",
    ),
    (
        "unbuilt-package",
        {"name": "canvas"},
        "Error: Cannot find module '../build/Release/canvas.node'\nRequire stack:\n- /r/node_modules/canvas/lib/b.js",
    ),
    # esbuild 0.10.2
    (
        "unbuilt-package",
        {"name": "esbuild"},
        "throw new Error(`esbuild: Failed\n^\n\nError: esbuild: Failed to install correctly",
    ),
    ("unbuilt-package", {"name": "a"}, "Error: ENOENT: no such file, open '/r/node_modules/a/vendor/x'"),
    (
        "node-too-old",
        {},
        "/r/node_modules/a/index.js:3\n  return b?.c;\n           ^\n\nSyntaxError: Unexpected token '.'\n    at w",
    ),
    (
        "node-too-old",
        {},
        "    /r/node_modules/a/index.js:3\n      return b?.c;\n               ^\n\n    SyntaxError: Unexpected token .",
    ),
    ("node-too-old", {"node": "14"}, "error: this package requires Node.js >= 14"),
    (
        "language-too-old",
        {"builtin": "at", "node": "16"},
        "    TypeError: _react.screen.queryAllByRole(...).at is not a function\n\n      68 |   render(",
    ),
    (
        "language-too-old",
        {"builtin": "flat", "node": "12"},
        "     TypeError: Object.keys(...).map(...).flat is not a f"
        "unction\n      at Context.<anonymous> (test/a.js:3:1)",
    ),
    (
        "language-too-old",
        {"builtin": "structuredClone", "node": "18"},
        "ReferenceError: structuredClone is not defined",
    ),
    (
        "language-too-old",
        {"builtin": "ReadableStream", "node": "18"},
        "ReferenceError: ReadableStream is not defined\n    at /r/node_modules/undici/lib/web/webidl/index.js:534:58",
    ),
    (
        "opaque-address",
        {},
        "  ● Test suite failed to run\n\n    SecurityError: localStorage is not available for opaque origins\n      \n",
    ),
    (
        "language-too-old",
        {"builtin": "availableParallelism", "node": "18"},
        "TypeError: (0 , _nodeOs(...).availableParallelism) is not a function\n    at getMaxWorkers (/r/a.js",
    ),
    ("node-too-new", {}, "ReferenceError: primordials is not defined"),
    (
        "not-installed",
        {"module": "@acme/tokens"},
        "FAIL src/a.test.js\n    Cannot find module '@acme/tokens' from 'src/a.js'",
    ),
    ("not-installed", {"module": "jest-config-acme"}, "  Preset jest-config-acme not found."),
    (
        "not-installed",
        {"module": "@acme/jest"},
        "  Preset @acme/jest/node not found relative to rootDir /workspace/repo.",
    ),
    (
        "not-installed",
        {"module": "@acme/axe"},
        "  Module @acme/axe/extend in the setupFilesAfterEnv option was not found.",
    ),
    # Vitest 0.10 and 3, Jest 29, Mocha 5, Playwright 1, Jasmine 5, Node 16
    ("unknown-option", {"option": "--hookTimeout"}, "CACError: Unknown option `--hookTimeout`\n    at Command.checkUn"),
    (
        "unknown-option",
        {"option": "testTimeOut"},
        '● Unrecognized CLI Parameter:\n\n  Unrecognized option "testTimeOut".',
    ),
    ("unknown-option", {"option": "--no-bail"}, "\n  error: unknown option `--no-bail'\n"),
    ("unknown-option", {"option": "--no-such"}, "error: unknown option '--no-such'"),
    ("unknown-option", {"option": "--no-such"}, "Unknown options: --no-such\n\nUsage: jasmine [command] [options]"),
    ("unknown-option", {"option": "--test-reporter"}, "/usr/local/bin/node: bad option: --test-reporter=spec"),
    # Playwright 1
    (
        "unknown-project",
        {"names": '"perf", "Mobile Chrome"'},
        'Error: Project(s) "perf", "Mobile Chrome" not found. Available projects: "chrome", "android"',
    ),
    # Puppeteer 1, 13 and 24, Playwright 1, Karma 6
    ("browser-missing", {}, 'Error: Chromium revision is not downloaded. Run "npm install" or "yarn install"'),
    ("browser-missing", {}, "Error: Could not find expected browser (chrome) locally. Run `npm install` to download"),
    ("browser-missing", {}, "Error: Could not find Chrome (ver. 131.0.6778.204). This can occur if either"),
    (
        "browser-missing",
        {},
        "browserType.launch: Executable doesn't exist at /home/b/.cache/ms-playwright/chromium-1187/chrome",
    ),
    ("browser-missing", {}, "ERROR [launcher]: No binary for ChromeHeadless browser on your platform."),
    ("browser-missing", {}, 'ERROR [launcher]: Cannot start Chrome\n\tPlease, set env variable "CHROME_BIN" to Chrom'),
]
#: not faults of the repository: failures of the machine, and tests that really fail
OTHERS = [
    "npm error code E503\nnpm error 503 Service Unavailable - GET https://registry.example.org/is-number",
    "npm error code E429\nnpm error 429 Too Many Requests - GET https://registry.example.org/is-number",
    " ERR_PNPM_FETCH_503  GET https://registry.example.org/a: Service Unavailable - 503",
    "npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write",
    "npm error code ENOENT\nnpm error enoent ENOENT: no such file or directory, open '/r/gone.tgz'",
]
HONEST = [
    "FAIL src/a.test.js\n  ● a › b\n    expect(received).toBe(expected)\n      at Object.<anonymous> (src/a.test.js:3)",
    "FAIL src/a.test.js\n  ● Test suite failed to run\n    Cannot find module './new' from 'src/a.test.js'",
    "  ● Test suite failed to run\n    SyntaxError: /r/src/a.js: Unexpected token (3:4)",
    "  ● a › b\n    TypeError: menu.flatten is not a function",
    "  ● a › b\n    ReferenceError: fetchMock is not defined",
]


def first(stage: faults.Stage, log: str) -> tuple[str, dict[str, str]]:
    finding = next(faults.find(stage, log))
    return finding.fault.name, finding.found


@pytest.mark.parametrize(("fault", "found", "log"), INSTALL)
def test_the_fault_of_a_failed_install_is_found(fault: str, found: dict[str, str], log: str) -> None:
    assert first("install", log) == (fault, found)


@pytest.mark.parametrize(("fault", "found", "log"), RUN)
def test_the_fault_of_a_failed_run_is_found(fault: str, found: dict[str, str], log: str) -> None:
    assert first("run", log) == (fault, found)


@pytest.mark.parametrize("log", OTHERS)
def test_unknown_failures_of_installs_match_no_fault(log: str) -> None:
    assert list(faults.find("install", log)) == []


@pytest.mark.parametrize("log", HONEST)
def test_ordinary_test_output_matches_no_fault(log: str) -> None:
    assert list(faults.find("run", log)) == []


@pytest.mark.parametrize(
    "line", ["ENOENT a ", "Cannot find module '../build/a.node'\n", "at x (/r/node_modules/a/b.js)\n"]
)
def test_a_huge_log_is_searched_quickly(line: str) -> None:
    started = time.monotonic()
    assert not [*faults.find("install", line * 200_000), *faults.find("run", line * 200_000)]
    assert time.monotonic() - started < 20


def test_every_row_has_a_log_a_known_remedy_and_a_reason() -> None:
    assert {fault.name for fault in faults.table()} == {name for name, _, _ in INSTALL + RUN}
    assert {name for fault in faults.table() for name, _ in fault.remedies} == {*REMEDIES}
    assert all(fault.reason in REASONS for fault in faults.table() if fault.stage == "install")
