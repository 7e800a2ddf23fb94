"""Which tests a configuration names in literal patterns: globs, regular expressions, folders. Others name none."""

from __future__ import annotations

import pytest

from pipeline.build.infer import patterns
from pipeline.build.infer.patterns import Patterns
from pipeline.ecosystems.runner_folder import runner


@pytest.mark.parametrize(
    ("name", "text", "runs", "leaves_out"),
    [
        ("jest", r"module.exports = { testRegex: '(.|-)test\\.(js|tsx)$' };", "src/menu-test.tsx", "src/menu.e2e.js"),
        ("jest", r"export default { testMatch: ['**/*.test.[jt]s?(x)'] }", "lib/src/a.test.tsx", "lib/src/a.spec.ts"),
        ("jest", "({ testMatch: ['<rootDir>/src/**/*.(test|spec).js'] })", "lib/src/a/b.spec.js", "lib/a.spec.js"),
        ("jest", "{ testMatch: ['**/*.js', '!**/e2e/**'] }", "lib/a.js", "lib/e2e/a.js"),
        ("jest", r"{ testPathIgnorePatterns: ['/node_modules/', '\\.ssr\\.'] }", "lib/a.test.js", "lib/a.ssr.test.js"),
        ("jest", "{ testPathIgnorePatterns: ['<rootDir>/e2e/'] }", "lib/a/e2e/a.js", "lib/e2e/a.js"),
        ("jest", "{ roots: ['src', '<rootDir>/test/'] }", "lib/test/a.js", "lib/e2e/a.js"),
        ("jest", "{ rootDir: '..', roots: ['<rootDir>/src'] }", "src/a.js", "lib/src/a.js"),
        ("jest", "{ rootDir: 'src' }", "lib/src/a.js", "lib/a.js"),
        ("jest", r"{ testRegex: './*\\e2e\\.js$' }", "lib/a.e2e.js", "lib/a.js"),
        ("jest", '{"testMatch": ["**/*.test.js"], "projects": ["<rootDir>"]}', "lib/a.test.js", "lib/a.js"),
        ("jest", "{ // testMatch: ['**/*.js'],\n testRegex: ['a.js', 'b.js'] }", "lib/b.js", "lib/c.js"),
        ("vitest", "export default defineConfig({ test: { include: ['src/**/*.test.{ts,tsx}'] } })",
         "lib/src/a/a.test.tsx", "lib/a.test.ts"),
        ("vitest", "{ plugins: [svgr({ include: ['a'] })], test: { coverage: { include: ['b'] }, dir: 'test' } }",
         "lib/test/a.ts", "lib/a.ts"),
        ("vitest", "{ test: { exclude: [...configDefaults.exclude, 'e2e/**'] } }", "lib/a.ts", "lib/e2e/a.ts"),
        ("playwright", r"const config: Config = { testDir: './e2e', testMatch: /.*\.(e2e|pw)\.ts/ };",
         "lib/e2e/a.pw.ts", "lib/a.pw.ts"),
        ("playwright", "{ testMatch: 'tests.vrt.js', projects: [{ name: 'chromium' }] }",
         "lib/vrt/tests.vrt.js", "lib/vrt/tests.js"),
    ],
)  # fmt: skip
def test_literal_patterns_are_read(name: str, text: str, runs: str, leaves_out: str) -> None:
    said = patterns.read(runner(name), "lib", text)
    assert said.may_run(runs) and not said.may_run(leaves_out)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jest", "{ testMatch: isBrowser ? ['a'] : ['b'] }"),
        ("jest", "{ testMatch: [...base.testMatch, 'a.js'] }"),
        ("jest", "{ testRegex: 'a' + end }"),
        ("jest", "{ testRegex: `${name}.js` }"),
        ("jest", "{ rootDir: path.resolve(__dirname, '..'), testRegex: 'a' }"),
        ("jest", "{ projects: ['packages/*'], testRegex: 'a' }"),
        ("jest", "{ projects: [{ testRegex: 'a' }, { testRegex: 'b' }] }"),
        ("jest", "const a = { testRegex: 'a' }; module.exports = { testRegex: 'b' };"),
        ("jest", "{ testRegex: '(unclosed' }"),
        ("jest", "{ testRegex: '(a+)+$' }"),
        ("vitest", "{ test: { include: ['a'], projects: ['packages/*'] } }"),
        ("vitest", "{ root: 'app', test: { root: 'test', include: ['a'] } }"),
        ("playwright", "{ testMatch: 'a', projects: [{ testMatch: 'b' }] }"),
        ("karma", "{ testMatch: ['a'] }"),
        ("jest", "{ projects: /a/ }"),
        ("jest", "{ testMatch: [" + "'a'  " * 60 + "] }"),
        ("jest", "null"),
        ("jest", "]}) unbalanced ({["),
    ],
)
def test_patterns_that_are_not_plainly_literal_are_none(name: str, text: str) -> None:
    """They may name any test, so no test may be left out because of them."""
    assert patterns.read(runner(name), "", text) == Patterns()
