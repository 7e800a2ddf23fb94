// A test runner for tests, in Jest's place: it takes the same command line and writes the same report.
//
// A test file has one test a line, `title | path | text`: it passes when the file at `path` holds the text, and fails by
// snapshot when its title begins with `renders`: with `--updateSnapshot` such a one passes, and the file's content is
// written as its snapshot. With a fourth part it is skipped unless the file holds that, too.
// Other lines: `needs PATH`, without which the file can not run; `asks PATH`, which it says that it cannot find;
// `advises PATH`, without which it can not run either, and says only that it takes a build;
// `turns PATH`, a test that passes every other time (PATH counts, outside the repository); `letters PATH`, a test that does what the next letter in PATH says, F or P, and passes
// when none is left; a negative control, which always fails; `breaks WAY`, how the runner itself breaks:
// no-report, cut (its report), killed, totals, exit, silent, flood, deaf (every test passes), rewrites (its test file), hashes (as
// one of another time does on a newer Node), waits (for what it needs), or one of `endless`, for sandboxes that bound it.
const fs = require("fs");
const path = require("path");

const words = process.argv.slice(2);
const report = words.find((word) => word.startsWith("--outputFile=")).slice("--outputFile=".length);
const spawn = require("child_process").spawn;
const files = words.slice(words.indexOf("--runTestsByPath") + 1).filter((word) => !word.startsWith("--"));
const update = words.includes("--updateSnapshot");
const ways = new Set();
const CONTROL = /^;\(typeof it .*?\)\("(\w+)", function/;

const holds = (file, text) => fs.existsSync(file) && fs.readFileSync(file, "utf8").includes(text);

function turn(counter) {
  const odd = fs.existsSync(counter) && fs.readFileSync(counter).length % 2;
  fs.appendFileSync(counter, ".");
  return odd ? "failed" : "passed";
}

function letter(file) {
  const [first, ...rest] = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  if (first) fs.writeFileSync(file, rest.join(""));
  return first === "F" ? "failed" : "passed";
}

function test(title, wanted) {
  const status = ways.has("deaf") ? "passed" : wanted;
  const messages = status !== "failed" ? [] : [title.startsWith("renders") ? "expect(received).toMatchSnapshot()" : "no"];
  return { title, ancestorTitles: [], status, failureMessages: messages };
}

function write(name, shown) {
  const folder = path.join(path.dirname(name), "__snapshots__");
  fs.mkdirSync(folder, { recursive: true });
  const entries = shown.map(([title, file]) => `exports[\`${title} 1\`] = \`\n${fs.readFileSync(file, "utf8")}\`;\n`);
  fs.writeFileSync(path.join(folder, `${path.basename(name)}.snap`), entries.join("\n"));
}

function read(line) {
  const [title, file, text, wanted] = line.split("|").map((part) => part.trim());
  if (update && title.startsWith("renders")) return test(title, "passed");
  if (wanted && !holds(file, wanted)) return test(title, "pending");
  return test(title, holds(file, text) ? "passed" : "failed");
}

function suite(name) {
  const lines = fs.readFileSync(name, "utf8").split("\n").filter(Boolean);
  const argument = (word) => lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(" ")[1]);
  argument("breaks").forEach((way) => ways.add(way));
  const missing = argument("needs").filter((needed) => !fs.existsSync(needed));
  const asked = argument("asks").filter((needed) => !fs.existsSync(needed));
  [...missing, ...asked].forEach((needed) => console.error(`Cannot find module './${needed}' from '${name}'`));
  const unbuilt = argument("advises").filter((needed) => !fs.existsSync(needed));
  if (unbuilt.length) console.error("Please run `npm run build` first");
  const broken = missing.length + unbuilt.length > 0;
  if (broken && ways.has("waits")) ways.add("no-report").add("hang");
  if (ways.has("rewrites")) fs.writeFileSync(name, "works | package.json |\n");
  const tests = lines.filter((line) => line.includes("|") && !line.includes("function")).map(read);
  const shown = lines.filter((line) => line.startsWith("renders")).map((line) => line.split("|").map((part) => part.trim()));
  if (update && shown.length) write(name, shown);
  tests.push(...lines.flatMap((line) => CONTROL.exec(line)?.[1] ?? []).map((title) => test(title, "failed")));
  tests.push(...argument("turns").map((counter) => test("takes turns", turn(counter))));
  tests.push(...argument("letters").map((place) => test("by letters", letter(place))));
  const failed = broken || !tests.length || tests.some((one) => one.status === "failed");
  return { name: path.resolve(name), status: failed ? "failed" : "passed", assertionResults: broken ? [] : tests };
}

const endless = {
  hang: () => setInterval(() => {}, 1000),
  forks: () => setInterval(() => spawn("sleep", ["600"]).on("error", () => {}), 5),
  writes: () => { for (let number = 0; ; number++) fs.writeFileSync(`written-${number}`, Buffer.alloc(2 ** 20)); },
  hoards: () => { for (const all = []; ; ) all.push(Buffer.alloc(2 ** 24, 1)); },
};

const testResults = files.map(suite);
const success = testResults.every((one) => one.status === "passed");
const all = testResults.flatMap((one) => one.assertionResults);
const count = (status) => all.filter((one) => one.status === status).length;
const summary = {
  success,
  numPassedTests: count("passed") + (ways.has("totals") ? 1 : 0),
  numFailedTests: count("failed"),
  numPendingTests: count("pending"),
  testResults,
};
if (ways.has("hashes") && !(process.env.NODE_OPTIONS || "").includes("--openssl-legacy-provider")) {
  console.error("Error: error:0308010C:digital envelope routines::unsupported\n  code: 'ERR_OSSL_EVP_UNSUPPORTED'");
  process.exit(1);
}
if (ways.has("flood")) console.log("x".repeat(400000));
if (!ways.has("no-report")) fs.writeFileSync(report, JSON.stringify(summary).slice(0, ways.has("cut") ? 20 : undefined));
if (!ways.has("silent")) console.error(`Test results written to: ${report}`);
process.exitCode = success === ways.has("exit") ? 1 : 0;
if (ways.has("killed")) process.kill(process.pid, "SIGKILL");
ways.forEach((way) => endless[way]?.());
