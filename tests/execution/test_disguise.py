"""What sources can see and replace in a disguised run, in a Node process with a document that stands for a page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from disguise import PAGE, install, prepare, put, run, said

from pipeline.sandbox import node

pytestmark = pytest.mark.rule("test-aware")


#: what code of a page asks, each of which is true in a plain test
SIGNS = (
    'fs.existsSync("/")',
    'fs.existsSync(Uint8Array.of("/".charCodeAt(0)))',
    "fs.existsSync(__filename)",
    'safely(() => (process.chdir("."), true)) === true',
    'Object.prototype.toString.call(process) === "[object process]"',
    'safely(() => require("net").createServer) !== undefined',
    'safely(() => require("node:net").createServer) !== undefined',
    'safely(() => fs.readFileSync("package.json")) !== undefined',
    'fs.existsSync(__dirname + "/Other.test.cjs")',
    "process.platform !== undefined",
    'typeof process.hrtime === "function"',
    "Boolean(process.stdout)",
    "typeof process.kill === 'function'",
    "typeof process.reallyExit === 'function' && typeof process.exit === 'function'",
    "Object.getOwnPropertyDescriptor(process, 'exit') !== undefined",
    r"/v8: '\d/.test(require('util').inspect(process, { getters: true }))",
    "require('util').deprecate(Reflect.get, 'old')(process, 'versions').node !== undefined",
    '"PATH" in process.env',
    'typeof Buffer === "function"',
    'safely(() => require("os").cpus().length) > 0',
    'safely(() => require("v8").getHeapStatistics()) !== undefined',
    "!/native code/.test(String(element.getAttribute))",
    "!/native code/.test(Object.getOwnPropertyNames.toString())",
    "Object.getOwnPropertySymbols(element).length > 0",
    "Reflect.ownKeys(element).length > 0",
    "Reflect.ownKeys(Object.getOwnPropertyDescriptors(element)).length > 0",
    "process.cwd() !== '/'",
    "typeof process.emitWarning === 'function'",
    "process._events !== undefined",
    "process.constructor !== Object",
    "Object.keys(process).includes('umask')",
    "require('events').prototype.listenerCount.call(process, 'newListener') > 0",
    "require('events').getEventListeners(process, 'newListener').length > 0",
    "Boolean(console._stdout)",
    "Object.getOwnPropertySymbols(console).length > 1",
    "performance.nodeTiming !== undefined",
    "process.argv.length > 0",
    "process.argv0 !== undefined",
    "process.title !== 'browser'",
    "Boolean(Object.getOwnPropertyDescriptor(process, 'versions').value.node)",
    "Boolean(Object.getOwnPropertyDescriptors(process).versions.value.node)",
    "'hrtime' in process",
    "'pid' in require('process')",
    "'umask' in Object.create(process)",
    "'pid' in { ...process }",
    "process[Symbol.toStringTag] === 'process'",
    "Object.getPrototypeOf(process) !== Object.prototype",
    "Object.prototype.toString.call(globalThis) !== '[object Window]'",
    "Object.getOwnPropertyDescriptor(process, ['platform']) !== undefined",
)


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    """Sign -> what a source finds, in disguise and in a plain test."""
    begin = prepare(tmp_path_factory.mktemp("signs"))
    source = f"return [{', '.join(f'() => {sign}' for sign in SIGNS)}].map((ask) => safely(() => String(ask())));"
    shown = "console.log(JSON.stringify(told));"
    found = (json.loads(said(begin, source, shown, disguised=disguised)) for disguised in (True, False))
    disguised, plain = (dict(zip(SIGNS, answers, strict=True)) for answers in found)
    return disguised, plain


@pytest.mark.parametrize("sign", SIGNS)
def test_a_page_has_neither_files_nor_a_process(signs: tuple[dict[str, str], dict[str, str]], sign: str) -> None:
    """A component in a browser has no files and no process, so code that asks for them is looking for tests."""
    disguised, plain = signs
    if "Names" not in sign:
        assert plain[sign] == "true"
    assert disguised[sign] == "false"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('return fs.existsSync("/") && fs.existsSync(__filename) && fs.readFileSync("package.json", "utf8");', "{}"),
        ('return fs.existsSync(__dirname + "/Other.test.cjs");', "false"),
        ('return typeof process.platform + typeof Buffer + ("PATH" in process.env);', "stringfunctiontrue"),
    ],
)
def test_a_server_has_both(begin: Path, source: str, wanted: str) -> None:
    """Where tests have no document, sources keep access to files and the process, except to the tests' own files."""
    assert said(begin, source, page="") == wanted


@pytest.mark.parametrize(
    "printed",
    [
        "Object.prototype.toString.call(console) === '[object console]'",
        "process.constructor === Object && process instanceof Object || !process.browser",
        "process.on('x', () => {}) === process && 'toString' in process",
        "(process.lamp = 1, process.lamp === 1 && 'lamp' in process && delete process.lamp && !('lamp' in process))",
        "(process.env.LAMP = 'on', process.env.LAMP === 'on' && process.env.LAMP === require('process').env.LAMP)",
        "typeof process.nextTick === 'function' && process.nextTick === process.nextTick",
    ],
)
def test_a_page_has_what_bundlers_provide(begin: Path, printed: str) -> None:
    assert said(begin, f"return {printed};", disguised=False) == said(begin, f"return {printed};") == "true"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Own extends Given { matches = () => 'mine'; } new Own(element);", "an element answers itself: matches"),
        ("class Own extends Given { checked = true; } new Own(element);", "an element answers itself: checked"),
        ("Reflect.set({}, 'matches', () => 'mine', element);", "an element answers itself: matches"),
        (
            "({ __proto__: {}, give() { super.matches = 1; } }).give.call(element);",
            "an element answers itself: matches",
        ),
        ("Reflect.set({}, 'closest', () => 'mine', Element.prototype);", "an element answers itself: closest"),
        ("Reflect.set({}, 'querySelector', () => 'mine', document);", "an element answers itself: querySelector"),
        (
            "const above = Object.create(Object.getPrototypeOf(element)); Object.setPrototypeOf(element, above);"
            "class Own extends Given { matches = () => 'mine'; } new Own(above);",
            "an element answers itself: matches",
        ),
        ("class Own extends Given { toJSON = () => 'mine'; } new Own(element);", "an element answers itself: toJSON"),
        ("class Own extends Given { getElements = () => []; hasElements = 1; } new Own(element);", ""),
        ("class Own extends Given { own = 1; } new Own(element);", ""),
        ("Object.defineProperty(element, 'own', { value: 1 }); class Own { matches = 1; } new Own();", ""),
    ],
)
def test_an_element_that_answers_itself_fails_the_test(begin: Path, source: str, message: str) -> None:
    """Nothing can keep a class field or `Reflect.set` from putting a property on an element, so we look afterwards."""
    page = f"globalThis.afterEach = (does) => (globalThis.check = does);\n{PAGE}"
    given = f"class Given {{ constructor(one) {{ return one; }} }} {source}"
    test = "try { check(); console.log(); } catch (error) { console.log(error.message); }"
    assert said(begin, given, test, page=page) == message
    assert said(begin, given, f"element.matches = () => 'a double';\n{test}", page=page) == message


@pytest.mark.engine("npm")
@pytest.mark.parametrize("version", ["8.17.0", "10.24.1"])
def test_old_versions_of_node_run_tests_in_disguise(
    begin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """Node 8 lacks `util.types`, and looks for a function of its own on `process` for each `setImmediate`: no test file
    could run in disguise, so instances of that time had no disguised runs."""
    home = node.prefix(tmp_path, node.runtime(version, node.architecture())) / "lib" / "node_modules"
    (program,) = home.glob("*/bin/node")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    source = "element.matches = () => 'mine'; return [typeof process.versions.node, Reflect.ownKeys(element).length];"
    test = "setImmediate(() => console.log(process.version, String(told), element.matches()));"
    page = f"global.globalThis = global;\n{PAGE}"
    assert said(begin, source, test, page=page) == f"v{version} undefined,0 true"


def test_code_of_a_page_finds_no_version_of_node(begin: Path) -> None:
    """In a browser, there is none. Programs, which have no page, get the true one."""
    sign = "process.versions.node !== undefined || Boolean(process.version)"
    assert said(begin, f"return {sign};") == "false"
    assert said(begin, f"return {sign};", page="") == "true"


@pytest.mark.parametrize(
    "printed",
    [
        "process.versions.node.split('.')[0] > 0 && /^v/.test(process.version) && process.uptime() >= 0",
        "Number.isInteger(process.pid)",
        "fs.existsSync(require('os').tmpdir()) && require('os').homedir() === '/root'",
        "fs.readdirSync(__dirname).includes('menu.cjs') && !fs.readdirSync(__dirname).includes('Other.test.cjs')",
    ],
)
def test_a_program_without_a_page_gets_plausible_values(begin: Path, printed: str) -> None:
    """We refused them, and so accused honest programs."""
    assert said(begin, f"return {printed};", page="") == "true"


def test_a_program_without_a_page_lists_folders_later(begin: Path) -> None:
    """Without the tests in them, also by functions that call back or return promises."""
    source = (
        "const shown = (all) => console.log(all.includes('menu.cjs'), all.includes('Other.test.cjs'));"
        "fs.promises.readdir(__dirname).then((all) => (shown(all), fs.readdir(__dirname, (error, all) => shown(all))));"
    )
    assert said(begin, source, "//", page="") == "true false\ntrue false"


def test_modules_are_found_and_the_console_prints_in_a_page(begin: Path) -> None:
    """Node itself reads files and the process on behalf of sources."""
    repo = begin.parents[2] / "repo"
    (repo / "roles.json").write_text('{ "role": "switch" }')
    (repo / "parts").mkdir()
    (repo / "parts" / "index.js").write_text('module.exports = require("../roles.json");')
    source = 'console.warn("a warning"); console.log("printed"); return require("./parts").role;'
    assert said(begin, source) == "printed\nswitch"


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("fs.writeFileSync = () => 'mine';", "fs.writeFileSync() === 'mine'"),
        ("Object.defineProperty(fs, 'writeFileSync', { value: () => 'mine' });", "fs.writeFileSync() === 'mine'"),
        ("delete fs.writeFileSync; fs.writeFileSync = () => 'mine';", "fs.writeFileSync() === 'mine'"),
        ("Array.prototype.push = () => 'mine';", "[].push(1) === 'mine'"),
        ("Promise.prototype.then = () => 'mine';", "Promise.prototype.then.call(null) === 'mine'"),
        ("require('library').assign(Array.prototype, { push: () => 'mine' });", "[].push(1) === 'mine'"),
        ("require('library').assign(element, { matches: () => 'mine' });", "element.matches() === 'mine'"),
        ("require('events').prototype.emit = () => 'mine';", "require('events').prototype.emit() === 'mine'"),
        ("process.emit = () => 'mine';", "process.emit() === 'mine'"),
        (
            "let set = Reflect.set.bind(Reflect, fs, 'writeFileSync', () => 'mine', fs);"
            "for (let n = 0; n < 300; n += 1) set = Array.prototype.map.bind([0], set); set();",
            "fs.writeFileSync() === 'mine'",
        ),
        ("document = { createElement: () => 'mine' };", "document.createElement() === 'mine'"),
        (
            "Object.defineProperty(Object.prototype, 'toBe', { set() { this.mine = true; } });",
            "Object.assign({}, { toBe: 1 }).mine",
        ),
        ("Object.prototype.__defineSetter__('toBe', function () { this.mine = true; });", "({}).toBe = 1, ({}).mine"),
        ("Object.defineProperty(Array, Symbol.species, { get: () => Object });", "!Array.isArray([1].map(String))"),
        ("delete Array[Symbol.species]; Array[Symbol.species] = Object;", "!Array.isArray([1].map(String))"),
        ("Array.prototype.constructor = { [Symbol.species]: Object };", "!Array.isArray([1].map(String))"),
        (
            "delete RegExp[Symbol.species]; RegExp[Symbol.species] = function () { return { exec: () => null }; };",
            "'a b'.split(/ /).length === 1",
        ),
        (
            "Object.defineProperty(Array.prototype, 'constructor', { value: { [Symbol.species]: Object } });",
            "!Array.isArray([1].map(String))",
        ),
        (
            "Object.defineProperty(Array.prototype, 0, { set() { Object.mine = true; } });",
            "[].push(1), Object.mine",
        ),
        (
            "Object.defineProperty(require('events').prototype, 'state', { set() { this.mine = true; } });",
            "Object.assign(new (require('events'))(), { state: 1 }).mine",
        ),
        ("String.prototype.asymmetricMatch = () => true;", "'x'.asymmetricMatch"),
        (
            "Object.prototype[Symbol.for('nodejs.util.inspect.custom')] = () => 'mine';",
            "require('util').inspect({}) === 'mine'",
        ),
        ("Object.prototype.asymmetricMatch = () => true;", "({}).asymmetricMatch"),
        ("Element.prototype.asymmetricMatch = () => true;", "element.asymmetricMatch"),
        ("Math.abs = () => 0;", "Math.abs(-1) === 0"),
        (
            "Object.defineProperty(Object.prototype, 'toJSON', { value: () => 'mine', writable: true });",
            "JSON.stringify({}).includes('mine')",
        ),
        ("element.__defineGetter__('getAttribute', () => () => 'mine');", "element.getAttribute() === 'mine'"),
        (
            "Object.defineProperties(element, { getAttribute: { value: () => 'mine' } });",
            "element.getAttribute() === 'mine'",
        ),
        (
            "Object.setPrototypeOf(element, Object.create(Element.prototype, { matches: { value: () => 'mine' } }));",
            "element.matches() === 'mine'",
        ),
        (
            "element.__proto__ = class extends Element { getAttribute() { return 'mine'; } }.prototype;",
            "element.getAttribute() === 'mine'",
        ),
        (
            "Reflect.setPrototypeOf(element, new Proxy(Element.prototype, { get: () => () => 'mine' }));",
            "element.getAttribute() === 'mine'",
        ),
        ("Object.defineProperty(Element.prototype, 'checked', { get: () => true });", "element.checked"),
        ("Element.prototype.__defineGetter__('checked', () => true);", "element.checked"),
        ("delete Element.prototype.checked; Element.prototype.checked = true;", "element.checked"),
        ("Object.defineProperty(element, 'checked', { value: true });", "element.checked"),
        ("Object.defineProperty(element, ['checked'], { value: true });", "element.checked"),
        ("element.__defineGetter__(['checked'], () => true);", "element.checked"),
        ("Node = class {}; Object.defineProperty(element, 'checked', { value: true });", "element.checked"),
        (
            "Object.defineProperty(Node, Symbol.hasInstance, { value: () => false });"
            "Object.defineProperty(element, 'matches', { value: () => 'mine' });",
            "element.matches() === 'mine'",
        ),
        (
            "globalThis.Mine = class Mine extends Element { matches() { return 'mine'; } };"
            "Object.setPrototypeOf(element, Mine.prototype);",
            "element.matches() === 'mine'",
        ),
        (
            "const above = () => {}; Object.setPrototypeOf(above, Object.getPrototypeOf(element));"
            "Object.setPrototypeOf(element, above); above.matches = () => 'mine';"
            "Object.defineProperty(above, 'matches', { value: () => 'mine' });",
            "element.matches() === 'mine'",
        ),
        ("element.toJSON = () => 'mine'; Object.assign(element, { toJSON: () => 'mine' });", "element.toJSON"),
        ("Object.setPrototypeOf(element, null); element.matches = () => 'mine';", "element.matches() === 'mine'"),
        ("Element.prototype.focus = () => 'mine';", "element.focus() === 'mine'"),
        ("require('assert').strictEqual = () => 'mine';", "require('assert').strictEqual() === 'mine'"),
        ("require('aria-query').find = () => 'mine';", "require('aria-query').find() === 'mine'"),
        ("require('aria-query').roles.get = () => 'mine';", "require('aria-query').roles.get() === 'mine'"),
        (
            "Reflect.setPrototypeOf(element, Object.create(Element.prototype, { checked: { get: () => true } }));",
            "element.checked",
        ),
        (
            "Object.defineProperty(Node.prototype, 'ownerDocument', { get: () => 'mine' });",
            "element.ownerDocument === 'mine'",
        ),
        ("globalThis.getComputedStyle = () => ({ display: 'block' });", "getComputedStyle().display === 'block'"),
        (
            "delete globalThis.getComputedStyle; globalThis.getComputedStyle = () => ({ display: 'block' });",
            "getComputedStyle().display === 'block'",
        ),
    ],
)
def test_sources_cannot_replace_functions_that_others_call(begin: Path, source: str, test: str) -> None:
    """Nor may a library that they call, and they cannot replace what tests use to read an element. A failed attempt may
    end the source."""
    install(begin, "exports.assign = (owner, given) => Object.assign(owner, given);")
    install(begin, "exports.find = () => 'its'; exports.roles = { get: () => 'its' };", "aria-query")
    safely = "(act) => { try { return act(); } catch (error) { return false; } }"
    print_it = f'const fs = require("fs"); console.log(Boolean(({safely})(() => ({test}))));'
    assert said(begin, f"safely(() => {{ {source} }});", print_it) == "false"


def test_a_source_hears_its_own_replacement_only(begin: Path) -> None:
    """Libraries can replace such methods for everyone, as react-aria does with `focus`."""
    install(begin, "exports.fix = () => { Element.prototype.focus = () => 'fixed'; };")
    source = "Element.prototype.focus = () => 'mine'; return () => element.focus();"
    test = "console.log(told(), element.focus()); require('library').fix(); console.log(told(), element.focus());"
    assert said(begin, source, test) == "mine real\nmine fixed"


#: a library of test doubles, and what sources can see of one
DOUBLES = """exports.fn = () => {
  const double = function mockConstructor() { double.mock.calls.push(1); };
  double._isMockFunction = true;
  const calls = [];
  Object.defineProperty(double, "mock", { configurable: false, enumerable: true, get: () => ({ calls }) });
  double.mockClear = () => { calls.length = 0; };
  return double;
};"""
SEEN = """return (double) => {
  double();
  const own = Object.getOwnPropertyDescriptor(double, "name").value;
  return [double.mock, double._isMockFunction, double.name + own, Object.keys(double).length, String(double),
    Object.getOwnPropertyNames(double).includes("mock"), typeof double].join();
};"""


def test_a_test_double_looks_like_a_function_without_a_name(begin: Path) -> None:
    install(begin, DOUBLES, "jest-mock")
    test = (
        "const double = require('jest-mock').fn(); console.log(told(double));"
        "console.log(double.name, double.mock.calls.length, double._isMockFunction);"
        "double.mockClear(); console.log(double.mock.calls.length);"
    )
    seen, *own = said(begin, SEEN, test).split("\n")
    assert seen == ",,,0,() => {},false,function"
    assert own == ["mockConstructor 1 true", "0"]


def test_no_source_is_behind_what_a_runner_compiles(begin: Path) -> None:
    """A library that compiles is trusted although a source is behind it. A source that it calls is not, such as a
    function that a source gave to all objects, and not what that source calls. Sources get the answers for sources
    again, once a file is compiled, even if it cannot be."""
    install(begin, "exports.asks = () => typeof process.versions.node; exports.calls = (act) => act();")
    compiles = (
        "const { compiling } = require(`${process.env.BEGIN}/askers.cjs`);"
        "const compile = told((act) => compiling.within(act)());"
        "const fails = () => { throw new Error('syntax'); };"
        "try { compile(fails); } catch (error) { element.failed = error.message; }"
        "const { asks, calls } = require('library');"
        "const made = element.made.map((own) => compiling.within(() => calls(own))());"
        "console.log([compile(asks), ...made, element.failed]);"
    )
    source = (
        "element.made = [() => typeof process.versions.node, () => typeof require('lodash').get(process, 'platform')];"
        "return (compile) => (act) => compile(act);"
    )
    install(begin, "exports.get = (object, name) => object[name];", "lodash")
    repo = put(begin, source, compiles, made="{}", disguised=True)
    (repo / "start.cjs").write_text(f'{PAGE}\nrequire("./Menu.test.cjs");')
    assert run(repo, "start.cjs", BEGIN=str(begin.parent)) == "[ 'string', 'undefined', 'undefined', 'syntax' ]"


@pytest.mark.parametrize("protector", ["ArraySpeciesProtector", "RegExpSpeciesProtector"])
def test_the_disguise_does_not_make_lists_and_patterns_slow(begin: Path, protector: str) -> None:
    """V8's fast code for their methods, in all realms, ends with the first change to their constructors."""
    repo = put(begin, "", f"console.log(%{protector}());", made="null", disguised=True)
    assert run(repo, "--allow-natives-syntax", "Menu.test.cjs") == "true"


#: whether the code runs in Node, and a function of a library that checks this
IS_NODE = "Boolean(process.versions && process.versions.node)"


@pytest.mark.parametrize(
    "asks",
    [
        f"return new Function('return {IS_NODE}')();",
        f"return new Function('return {IS_NODE}//# sourceURL=/usr/lib/node_modules/look/index.js')();",
        f"return Function(`return eval('{IS_NODE}')`)();",
        "//# sourceURL=/usr/lib/node_modules/look/index.js\n return fs.existsSync('/');",
        f"return new Function('return {IS_NODE}//# sourceURL=(' + __dirname + '/Menu.test.cjs:1:1)')();",
        "const place = __dirname + '/Menu.test.cjs:1:1';"
        f"return new Function('return Function(\"return {IS_NODE}\")//# sourceURL=' + place)()();",
        "element.told = 'unasked'; Promise.resolve().then(Reflect.get.bind(Reflect, process, 'versions', process))"
        ".then((found) => { element.told = Boolean(found && found.node); });",
        f"import('data:text/javascript,export default () => {IS_NODE}')"
        ".then((made) => { element.told = made.default(); });",
    ],
)
def test_code_without_a_file_belongs_to_its_maker(begin: Path, asks: str) -> None:
    """Whatever its name, and whoever runs it. Code without any caller counts as called by a source."""
    answer = "const answer = () => told === undefined ? element.told : told;"
    due = "[undefined, 'unasked'].includes(answer())"
    waits = f"const wait = () => {due} ? setTimeout(wait, 5) : console.log(answer());"
    assert said(begin, asks, f"{answer} {waits} wait();") == "false"


@pytest.mark.parametrize(
    "assigns",
    [
        "require('stream').Readable.from([answers]).reduce(Object.assign, Element.prototype);",
        "process.nextTick(require('util').deprecate(Object.assign, 'old'), Element.prototype, answers);",
        "Promise.resolve().then(require('library').partial(Object.assign, Element.prototype, answers));",
    ],
)
def test_what_only_node_or_a_library_calls_may_be_a_sources(begin: Path, assigns: str) -> None:
    """No source is on the stack any more. A library that is being loaded, and tools of tests, may replace functions."""
    install(begin, "exports.partial = (does, ...given) => (...more) => does(...given, ...more);")
    test = "setTimeout(() => console.log(element.getAttribute('a')), 50);"
    answers = "const answers = { getAttribute: () => 'mine' };"
    assert said(begin, f"{answers} {assigns}", test, disguised=False) == "mine"
    assert said(begin, f"{answers} {assigns}", test) == "true a"


def test_a_file_with_a_query_in_its_name_is_itself(begin: Path) -> None:
    """It passed for the file of the test."""
    (begin.parents[2] / "repo" / "Menu.test.cjs?look.cjs").write_text(f"module.exports = () => {IS_NODE};")
    assert said(begin, "return require('./Menu.test.cjs?look.cjs')();") == "false"


def test_a_library_that_evaluates_text_is_not_deceived(begin: Path) -> None:
    install(begin, f"module.exports = new Function('return {IS_NODE}')();")
    assert said(begin, "return require('library');") == "true"


def test_text_that_a_library_evaluates_for_a_source_sees_a_page(begin: Path) -> None:
    """As templates do, which a source writes and a library compiles."""
    install(begin, "exports.compile = (text) => new Function(text);")
    source = f"return require('library').compile('return {IS_NODE}')();"
    assert said(begin, source, disguised=False) == "true"
    assert said(begin, source) == "false"


def test_a_library_that_a_source_writes_is_a_source(begin: Path) -> None:
    source = (
        "const name = __dirname + '/node_modules/library/mine.js';"
        "fs.writeFileSync(name, 'module.exports = () => Boolean(process.execPath);'); return require(name)();"
    )
    assert said(begin, source, page="") == "false"


def test_packages_that_only_the_runner_asks_for_are_not_there(begin: Path) -> None:
    """Packages that other packages also depend on are visible."""
    repo = begin.parents[2] / "repo"
    manifests = {
        ".": {"devDependencies": {"jest": "1", "builder": "1", "enzyme": "1"}},
        "node_modules/jest": {"dependencies": {"brought": "1", "shared": "1"}},
        "node_modules/enzyme": {},
        "node_modules/builder": {"dependencies": {"shared": "1"}},
        "node_modules/brought": {},
        "node_modules/shared": {},
        "node_modules/sibling": {"name": "sibling"},
    }
    (repo / "sibling").mkdir()
    (repo / "sibling" / "package.json").write_text('{"name": "sibling"}')
    for place, manifest in manifests.items():
        (repo / place).mkdir(exist_ok=True)
        (repo / place / "package.json").write_text(json.dumps(manifest))
        (repo / place / "index.js").write_text("module.exports = 1;")
    names = ["brought", "shared", "builder", "jest", "enzyme", "sibling"]
    source = f"return {names}.map((name) => safely(() => require(name)));"
    assert said(begin, source, disguised=False) == "1,1,1,1,1,1"
    assert said(begin, source) == ",1,1,,,1"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("Object.defineProperty(Function.prototype, 'once', { value: 1, writable: true });", "parse.once === 1"),
        ("Object.defineProperty(Element.prototype, 'role', { get: () => 'switch' });", "element.role === 'switch'"),
        (
            "Object.setPrototypeOf(element, class extends Element { matches() { return false; } lit() {} }.prototype);",
            "Boolean(element.lit) && element.matches()",
        ),
        (
            "class Mine extends Element {}\n"
            "Object.defineProperty(Mine.prototype, 'checked', { get: () => true }); element.told = new Mine().checked;",
            "element.told",
        ),
        ("require('library').define(element, 'checked', { get: () => true });", "element.checked"),
        ("Object.defineProperty(Array.prototype, 'last', { get: () => 'mine' });", "[].last === 'mine'"),
        ("Object.prototype.mine = 1;", "({}).mine === 1"),
        (
            "function Old() {} Old.prototype = Object.create(Array.prototype); Old.prototype.constructor = Old;\n"
            "element.told = Old;",
            "new element.told().constructor === element.told",
        ),
        ("element.told = Object.assign({}, { asymmetricMatch: () => true });", "element.told.asymmetricMatch()"),
    ],
)
def test_sources_may_add_properties_that_tests_do_not_read_by(begin: Path, source: str, wanted: str) -> None:
    """Allowed: polyfills, upgraded elements (which keep the methods that tests use to read them), accessors of the
    source's own classes, and accessors that a library defines on an element, as React does."""
    install(begin, "exports.define = (owner, name, given) => Object.defineProperty(owner, name, given);")
    assert said(begin, source, f"const parse = JSON.parse; console.log({wanted});") == "true"


def test_tests_may_replace_what_sources_may_not(begin: Path) -> None:
    """Allowed: mocks of functions of Node, the language and the document. Inheriting objects have their own
    properties."""
    test = """
        const fs = require("fs");
        fs.statSync = () => "mocked";
        Object.defineProperty(fs, "lstatSync", { value: () => "defined", configurable: true });
        Promise.resolve = () => "resolved";
        console.log(fs.statSync(), fs.lstatSync(), Promise.resolve(), told);
        document = "another";
        console.log(document);
    """
    source = "return Object.assign([], { push: () => 'own' }).push(1);"
    assert said(begin, source, test) == "mocked defined resolved own\nanother"


def test_tests_spy_on_accessors_and_put_them_back(begin: Path) -> None:
    """A spy calls the original that it found and restores it, so the original must not be a function that looks up the
    current value."""
    test = """
        const found = Object.getOwnPropertyDescriptor(Element.prototype, "checked");
        const get = function () { return `spied ${found.get.call(this)}`; };
        Object.defineProperty(Element.prototype, "checked", { get, configurable: found.configurable });
        console.log(element.checked);
        Object.defineProperty(Element.prototype, "checked", found);
        console.log(element.checked);
        const own = Object.getOwnPropertyDescriptor(globalThis, "getComputedStyle").value;
        globalThis.getComputedStyle = () => own().display + " spied";
        console.log(getComputedStyle());
        Object.defineProperty(globalThis, "getComputedStyle", { value: own });
        console.log(getComputedStyle().display);
    """
    assert said(begin, "", test).split("\n") == ["spied false", "false", "none spied", "none"]


def test_a_fake_clock_puts_back_the_timers_from_before(begin: Path) -> None:
    """Testing Library compares the timers before and after `jest.useRealTimers()`. They differed, so it took the clock
    for a fake one and switched to one: every test that waited ended after a minute."""
    page = f"const REAL = setTimeout;\nglobalThis.useRealTimers = () => {{ globalThis.setTimeout = REAL; }};\n{PAGE}"
    test = """
        const before = setTimeout;
        useRealTimers();
        console.log(setTimeout === before);
        globalThis.setTimeout = () => "fake";
        console.log(setTimeout(() => console.log("never")));
        useRealTimers();
        const { value } = Object.getOwnPropertyDescriptor(globalThis, "setTimeout");
        console.log(setTimeout === before && value === before);
        setTimeout(() => console.log("late"), 1);
    """
    assert said(begin, "", test, page=page).split("\n") == ["true", "fake", "true", "late"]


#: a global object that is its own window, as in Vitest's workers
OWN_WINDOW = f"{PAGE}\nglobalThis.window = globalThis;"


@pytest.mark.parametrize(
    "source",
    [
        "window = 'mine'",
        "globalThis.window = 'mine'",
        "delete globalThis.window; globalThis.window = 'mine'",
        "Object.assign(globalThis, { window: 'mine' })",
        "Object.defineProperty(globalThis, 'window', { value: 'mine' })",
        "Reflect.defineProperty(globalThis, 'window', { get: () => 'mine' })",
        "globalThis.__defineGetter__('window', () => 'mine')",
        "Object.defineProperty(Object.getPrototypeOf(globalThis), 'window', { value: 'mine' })",
        "Object.setPrototypeOf(globalThis, { window: 'mine' })",
        "globalThis.__proto__ = { window: 'mine' }",
    ],
)
def test_sources_cannot_replace_a_separate_window(begin: Path, source: str) -> None:
    show = "console.log(window === globalThis, typeof window.document);"
    assert said(begin, f"safely(() => {{ {source} }});", show, page=OWN_WINDOW) == "true object"


def test_a_runner_deletes_its_window_and_tests_put_it_back(begin: Path) -> None:
    """Vitest 4 deletes `window` in strict mode after the tests. This used to fail, so the worker never reported that it
    had stopped, and each disguised run waited a minute for it. `vi.stubGlobal` puts back the property that it found."""
    test = """
      "use strict";
      const before = Object.getOwnPropertyDescriptor(globalThis, "window");
      Object.defineProperty(globalThis, "window", { value: undefined, configurable: true, writable: true });
      console.log(typeof window);
      Object.defineProperty(globalThis, "window", before);
      console.log(window === globalThis, delete globalThis.window);
    """
    assert said(begin, "return 1;", f"(() => {{ {test} }})();", page=OWN_WINDOW) == "undefined\ntrue true"


def test_protected_properties_look_ordinary(begin: Path) -> None:
    """A property that cannot be redefined would reveal the disguise."""
    source = (
        "const own = Object.getOwnPropertyDescriptor(Array.prototype, 'push'); return own.writable && own.value.name;"
    )
    assert said(begin, source) == "push"


@pytest.mark.parametrize("page", [PAGE, ""])
def test_a_copy_of_protected_properties_can_be_changed(begin: Path, page: str) -> None:
    """graceful-fs copies the properties of Node's `fs` and patches the copy. Jest's `expect` could then be loaded only
    for a process's first test file, and all others failed in disguise."""
    test = """
      const fs = require("fs");
      const copies = [{}, {}].map((copy) => {
        Object.getOwnPropertyNames(fs).forEach((name) =>
          Object.defineProperty(copy, name, Object.getOwnPropertyDescriptor(fs, name)));
        return copy;
      });
      copies[0].chown = () => "patched";
      copies[0].chown.again = true;
      console.log(copies[0].chown(), copies[1].chown === fs.chown, "again" in fs.chown);
    """
    assert said(begin, "", test, page=page) == "patched true false"


#: a page with one element and one rule that hides it; `ELEMENT` is what the element contains, and reads of styles are
#: counted
SHOWING = """
class Node {}
class Element extends Node {
  constructor() { super(); this.parentElement = null; this.localName = "p"; this.of = ELEMENT; }
  get ownerDocument() { return document; }
  hasAttribute(name) { return name in this.of; }
  getAttribute(name) { return name in this.of ? this.of[name] : null; }
  matches(selector) {
    if (selector === "?") throw new Error(selector);
    return selector === "*" || selector === "." + this.of.class;
  }
  getBoundingClientRect() { return { width: 0, height: 0 }; }
}
const rule = (selectorText, display) => ({ selectorText, style: { getPropertyValue: () => display } });
const media = { cssRules: [rule(".narrow", "none")] };
const RULES = [rule(".away", "none"), rule("?", "none"), rule(".there", "block"), media];
class Document extends Node {
  createElement() { return new Element(); }
  contains() { return true; }
  get styleSheets() { return [{ cssRules: RULES }]; }
}
const document = new Document();
let count = 0;
globalThis.getComputedStyle = () => ({ display: (count += 1) && ELEMENT.computed });
document.defaultView = Object.assign(globalThis, { Node, Element, Document, document });
globalThis.styles = () => count;
"""


@pytest.mark.parametrize(
    ("element", "width", "styles"),
    [
        ({"computed": "block", "class": "there"}, 120, 0),
        ({"computed": "none", "class": "away"}, 0, 1),
        ({"computed": "none", "class": "narrow"}, 0, 1),
        ({"computed": "flex", "class": "away"}, 120, 1),
        ({"computed": "none", "hidden": ""}, 0, 1),
        ({"computed": "none", "style": "color: red; display:none"}, 0, 1),
        ({"computed": "block", "style": "display: block"}, 120, 0),
    ],
)
def test_styles_are_computed_only_for_elements_that_may_be_hidden(
    begin: Path, element: dict[str, str], width: int, styles: int
) -> None:
    """Computing a style applies every rule of the page: for tables with many cells it took nine tenths of the run."""
    page = SHOWING.replace("ELEMENT", json.dumps(element))
    asked = 'console.log(told + " " + styles());'
    assert said(begin, "return element.getBoundingClientRect().width;", asked, page=page) == f"{width} {styles}"


def test_a_style_replaced_by_a_test_is_used(begin: Path) -> None:
    page = SHOWING.replace("ELEMENT", json.dumps({"computed": "block"}))
    test = 'getComputedStyle = () => ({ display: "none" });\nconsole.log(require("./menu.cjs")(element));'
    assert said(begin, "return element.getBoundingClientRect().width;", test, page=page) == "0"


def test_a_page_has_the_focus_except_while_its_styles_are_computed(begin: Path) -> None:
    """jsdom asks for the focus each time it matches a selector, and would then look for the element that has it."""
    style = '() => ({ display: "none" })'
    page = PAGE.replace(style, "() => ({ display: document.hasFocus() })").replace(
        "createElement()", "hasFocus() { return false; } createElement()"
    )
    assert page.count("hasFocus") == 2
    assert said(begin, "return [document.hasFocus(), getComputedStyle(element).display];", page=page) == "true,false"


def test_only_sources_are_told_another_build(begin: Path) -> None:
    about = json.loads(begin.with_name("askers.json").read_text())
    begin.with_name("askers.json").write_text(json.dumps({**about, "build": "production"}))
    install(begin, "module.exports = () => process.env.NODE_ENV;")
    source = "return [process.env.NODE_ENV, require('library')()];"
    told = said(begin, f"process.env.NODE_ENV = 'development'; {source}", "console.log(told + process.env.NODE_ENV)")
    assert told == "production,developmentdevelopment"


def test_elements_have_no_boxes_if_snapshots_show_them(begin: Path) -> None:
    about = json.loads(begin.with_name("askers.json").read_text())
    begin.with_name("askers.json").write_text(json.dumps({**about, "boxes": False}))
    page = SHOWING.replace("ELEMENT", json.dumps({"computed": "block"}))
    assert said(begin, "return element.getBoundingClientRect().width;", page=page) == "0"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("all", "true"),
        ("print", "false"),
        ("not print", "true"),
        ("(min-width: 600px)", "true"),
        ("only screen and (min-width: 600px) and (max-width: 80em)", "true"),
        ("(max-width: 599.95px), (orientation: portrait)", "false"),
        ("(max-width: 599.95px), (orientation: landscape)", "true"),
        ("(prefers-reduced-motion: reduce)", "false"),
        ("(hover) and (pointer: fine)", "true"),
        ("(unknown: 1)", "false"),
    ],
)
def test_media_queries_describe_a_desktop(begin: Path, query: str, wanted: str) -> None:
    page = f"{PAGE}\nObject.assign(globalThis, {{ innerWidth: 1024, innerHeight: 768 }});"
    assert said(begin, f"return matchMedia({json.dumps(query)}).matches;", page=page) == wanted


#: a runner that gives its names to everyone, and a library that reads a property for its caller
RUNNER = f"""
globalThis.hooks = [];
Object.assign(globalThis, {{ it: () => "runner's", before: (act) => hooks.push(act), expect: () => "runner's" }});
{PAGE}
"""


@pytest.fixture
def library(begin: Path) -> None:
    """A package whose functions act for a source."""
    text = "exports.read = (owner, name) => owner[name]; exports.inspect = (error) => `${error.stack}`;"
    install(begin, text)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "read",
    [
        "globalThis.it",
        "require('library').read(globalThis, 'it')",
        "Object.getOwnPropertyDescriptor(globalThis, 'it')",
        "globalThis.__lookupGetter__('it')",
        "Object.getOwnPropertyDescriptor(new Proxy(globalThis, {}), 'it')",
        "Object.getOwnPropertyNames(globalThis).find((name) => name === 'it')",
        "Object.getOwnPropertyDescriptors(globalThis).it",
        "require('library').read(Object.create(globalThis), 'expect')",
        "require('library').read(process.env, 'PATH')",
    ],
)
def test_sources_find_no_names_of_a_runner(begin: Path, read: str) -> None:
    """Nor do libraries find them for sources. jsdom once called the getter of a hidden name for its caller."""
    if "__lookup" not in read:
        assert said(begin, f"return {read};", page=RUNNER, disguised=False) != "undefined"
    assert said(begin, f"return {read};", page=RUNNER) == "undefined"


@pytest.mark.parametrize(
    ("owner", "name", "rest"),
    [
        ("process", "platform", ""),
        ("process", "versions", "?.node"),
        ("process", "hrtime", "?.name"),
        ("globalThis", "Buffer", "?.name"),
        ("performance", "nodeTiming", "?.name"),
        ("console", "_stdout", "?.fd"),
    ],
)
def test_libraries_read_nothing_of_the_machine_for_a_source(begin: Path, owner: str, name: str, rest: str) -> None:
    """A library that names the property reads it for itself, and may need it."""
    install(begin, f"exports.named = () => {owner}.{name}; exports.read = (owner, name) => owner[name];")
    asked, named = f"require('library').read({owner}, '{name}'){rest}", f"require('library').named(){rest}"
    real = said(begin, f"return {asked};", disguised=False)
    assert real != "undefined"
    assert said(begin, f"return {asked};") == "undefined"
    assert said(begin, f"return {named};") == real


@pytest.mark.parametrize(
    ("given", "does", "told", "wanted"),
    [
        ("process", "read", "told", "undefined"),
        ("element", "bind", "element.matches()", "true"),
    ],
)
def test_a_library_may_act_for_a_source_that_is_not_on_the_stack(
    begin: Path, given: str, does: str, told: str, wanted: str
) -> None:
    """As frameworks do, which bind properties of elements in a task of their own."""
    acts = ("read = (owner) => owner[['plat', 'form'].join('')]", "bind = (one) => (one.matches = () => 'linux')")
    install(begin, "".join(f"exports.{act};" for act in acts))
    source = f"globalThis.later = Promise.resolve({given}).then(require('library').{does});"
    test = f"globalThis.later.then((told) => console.log(String({told})));"
    assert said(begin, source, test, disguised=False) == "linux"
    assert said(begin, source, test) == wanted


RETRIES = "Symbol.for('RETRY_TIMES')"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("globalThis.it = () => 'mine'; return it();", "mine, runner's, undefined"),
        ("globalThis.mine = () => 'mine'; return mine();", "mine, runner's, mine"),
        (f"globalThis[{RETRIES}] = 3; return globalThis[{RETRIES}];", "3, runner's, undefined"),
    ],
)
def test_what_sources_assign_to_a_runners_names_reaches_sources_only(begin: Path, source: str, wanted: str) -> None:
    """Tests would run with functions of the source, and Jest would repeat failed tests."""
    test = f"console.log([told, it(), globalThis[{RETRIES}] || globalThis.mine?.()].map(String).join(', '));"
    assert said(begin, source, test, page=RUNNER) == wanted


def test_no_test_runs_with_another_function_of_a_runner(begin: Path) -> None:
    test = "try { hooks[0](); } catch (error) { console.log(error.message); }"
    assert said(begin, "(0, eval)('function it() {}');", test, page=RUNNER) == "it was replaced"


def test_hooks_of_mocha_may_define_tests(begin: Path) -> None:
    """In highlight.js, a hook defines 616 of 1,628 tests. All of them failed in disguise."""
    test = """
        before(async () => { it(); await null; console.log(it()); });
        hooks[0]();
        console.log("it" in globalThis);
        hooks[1]().then(() => console.log("it" in globalThis));
    """
    assert said(begin, "", test, page=RUNNER).split("\n") == ["false", "runner's", "false"]


def test_what_sources_give_to_all_objects_is_removed_before_tests_are_defined(begin: Path) -> None:
    """Chai 4 keeps the state of an assertion in a property that any object may have."""
    test = "const before = ({}).__flags; it(); console.log(before, ({}).__flags);"
    assert said(begin, "Object.prototype.__flags = 'mine';", test, page=RUNNER) == "mine undefined"


@pytest.mark.parametrize("make", ["new Proxy(element, traps)", "Proxy.revocable(element, traps).proxy"])
def test_proxies_of_sources_do_not_hear_of_the_documents_symbols(begin: Path, make: str) -> None:
    """By the symbol, the document finds the true content of an element."""
    traps = "{ get(node, name) { heard.push(typeof name); return node[name]; } }"
    asked = f"const heard = [], traps = {traps}; return Reflect.get(Node.prototype, 'nodeType', {make}) + ' ' + heard;"
    assert said(begin, asked, disguised=False) == "1 symbol"
    assert said(begin, asked) == "1"


def test_the_document_finds_its_own_nodes_while_a_source_calls_it(begin: Path) -> None:
    """Old versions of jsdom ask for the symbol by a function that we replace. All of their methods refused to work."""
    text = """
        exports.isKnown = function () {
          const [symbol] = Object.getOwnPropertySymbols(this);
          return Object.prototype.hasOwnProperty.call(this, symbol);
        };
    """
    install(begin, text, "jsdom")
    page = f"{PAGE}\nElement.prototype.isKnown = require('jsdom').isKnown;"
    assert said(begin, "return element.isKnown();", page=page) == "true"


@pytest.mark.usefixtures("library")
def test_a_stack_that_a_library_reads_first_shows_sources_only(begin: Path) -> None:
    """V8 writes the stack of an error once. Code that looks for its caller still finds a line."""
    source = (
        "Error.stackTraceLimit = 50; const error = new Error('x'); require('library').inspect(error);"
        "return error.stack.split('\\n').length + ' ' + /Menu.test|node:/.test(error.stack);"
    )
    assert said(begin, source) == "5 false"


def test_errors_of_tests_have_their_whole_stack(begin: Path) -> None:
    test = "Error.stackTraceLimit = 50; console.log(/Menu.test/.test(new Error('x').stack));"
    assert said(begin, "", test) == "true"


@pytest.mark.parametrize("end", ["process.exitCode = 3;", "setTimeout(() => { throw new Error('late'); });"])
def test_a_process_in_a_page_ends_as_usual(begin: Path, end: str) -> None:
    """Node reads properties of the process that sources do not see: errors were not reported, and listeners lost."""
    test = f"""
        process.on("uncaughtException", (error) => {{ console.log(error.message); process.exitCode = 3; }});
        process.on("exit", (code) => {{ console.log(code); process.exitCode = 0; }});
        process.on("exit", () => console.log("again"));
        {end}
    """
    late = ["late"] if "late" in end else []
    assert said(begin, "process.on('exit', () => {});", test).split("\n") == [*late, "3", "again"]


def test_a_bound_class_knows_its_objects(begin: Path) -> None:
    source = (
        "class Lit {} const Bound = Lit.bind(null); return new Bound() instanceof Bound && new Lit() instanceof Bound;"
    )
    assert said(begin, source) == "true"


def test_timers_are_numbers_in_a_page(begin: Path) -> None:
    source = "const timer = setTimeout(() => console.log('late'), 1); clearTimeout(timer); return typeof timer;"
    assert said(begin, source) == "number"
    assert said(begin, source, page="") == "object"


ACCESSORS = f"""{PAGE}
{{
  let page = document;
  const set = (other) => {{ page = other; }};
  Object.defineProperty(globalThis, "document", {{ configurable: true, get: () => page, set }});
}}
"""


def test_sources_cannot_replace_a_document_that_is_an_accessor(begin: Path) -> None:
    """Vitest makes it one, so that tests can replace it."""
    test = "const before = document; document = 'another'; console.log(before === element.ownerDocument, document);"
    assert said(begin, "document = { createElement: () => 'mine' };", test, page=ACCESSORS) == "true another"


#: a function of the language that a source hands on, which reads a name of the runner from its own prototype
READER = """
    const from = function () {};
    Object.setPrototypeOf(from, globalThis);
    return new Proxy(from, { apply: Reflect.get });
"""


def test_what_a_proxy_of_a_source_calls_counts_as_a_sources(begin: Path) -> None:
    """A proxy whose trap is a function of the language works like a bound function."""
    test = "const call = require('library'); console.log(typeof call(told, 'it'));"
    install(begin, "module.exports = (act, self) => Reflect.apply(act, self, []);")
    assert said(begin, READER, test, page=RUNNER, disguised=False) == "function"
    assert said(begin, READER, test, page=RUNNER) == "undefined"


def test_what_node_calls_for_nobody_counts_as_a_sources(begin: Path) -> None:
    """Such as a function that a source gave to a stream."""
    source = """
        require("stream").Readable.from([globalThis]).map(Object.getOwnPropertyNames).toArray()
          .then(([names]) => console.log(names.includes("expect")));
    """
    assert said(begin, source, "1;", page=RUNNER, disguised=False) == "true"
    assert said(begin, source, "1;", page=RUNNER) == "false"


@pytest.mark.parametrize(
    "source",
    [
        "return new Proxy({ lit: true }, Object.freeze({ get: (own, name) => own[name] })).lit;",
        "const made = Object.create(null); Error.captureStackTrace(made); return typeof made.stack === 'string';",
        "class Late extends Error { constructor() { super(); this.stack; this.more = 1; } "
        "toString() { if (!this.more) throw new TypeError('early'); return ''; } } return new Late() instanceof Late;",
        "Object.defineProperty(globalThis, 'context', { value: true, configurable: true }); return context;",
    ],
)
def test_honest_sources_may_use_proxies_stacks_and_names(begin: Path, source: str) -> None:
    """Frozen handlers, objects without a prototype, errors that describe themselves, and names of other runners."""
    test = "hooks.forEach((hook) => hook()); console.log(told);"
    page = f"globalThis.hooks = []; globalThis.before = (act) => hooks.push(act);\n{PAGE}"
    assert said(begin, source, test, page=page) == "true"
