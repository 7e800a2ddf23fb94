/**
 * Builds all stories as a static site in Storybook's format, without Storybook: `npm run build-storybook -- -o DIR`.
 * Writes `index.json` (what there is) and `iframe.html`, which shows the story of `?id=` in `#storybook-root`.
 */
const { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, join, relative } = require("node:path");
const { transform } = require("sucrase");

const ROOT = dirname(__dirname);
const PREVIEW = join(ROOT, ".storybook", "preview.ts");
const SOURCE = /\.tsx?$/;

const out = process.argv[process.argv.indexOf("-o") + 1];
const stories = readdirSync(join(ROOT, "src"), { recursive: true })
  .filter((name) => name.endsWith(".stories.tsx"))
  .map((name) => join(ROOT, "src", name))
  .sort();

/** The file that `name` means in `file`. */
function resolve(name, file) {
  if (!name.startsWith(".")) return createRequire(file).resolve(name);
  const path = join(dirname(file), name);
  const found = ["", ".tsx", ".ts", ".js"].map((end) => path + end).find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
  if (!found) throw new Error(`${relative(ROOT, file)}: there is no ${name}`);
  return found;
}

/** A style sheet with what it imports. */
function css(file) {
  return readFileSync(file, "utf8").replace(/@import "(.+?)";/g, (_, name) => css(resolve(name, file)));
}

function code(file) {
  const text = readFileSync(file, "utf8");
  if (file.endsWith(".css")) return `document.head.append(Object.assign(document.createElement("style"), { textContent: ${JSON.stringify(css(file))} }));`;
  if (!SOURCE.test(file)) return text;
  return transform(text, { transforms: ["typescript", "jsx", "imports"], jsxRuntime: "automatic", production: true }).code;
}

/** All modules that an entry needs, each as a function that takes its own `require`. */
function bundle(entries) {
  const modules = new Map();
  const queue = [...entries];
  for (const file of queue) {
    if (modules.has(file)) continue;
    const text = code(file);
    const names = file.endsWith(".css") ? [] : [...text.matchAll(/\brequire\(["'](.+?)["']\)/g)].map((match) => match[1]);
    const needed = Object.fromEntries(names.filter((name) => !name.includes(".development.")).map((name) => [name, resolve(name, file)]));
    modules.set(file, `[${JSON.stringify(needed)}, function (module, exports, require) {${text}\n}]`);
    queue.push(...Object.values(needed));
  }
  return `{${[...modules].map(([file, text]) => `${JSON.stringify(file)}: ${text}`).join(",\n")}}`;
}

const kebab = (text) => text.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase();

/** The entries of `index.json`, and where each story is exported from. */
function index(file) {
  const text = readFileSync(file, "utf8");
  const title = /title: "(.+?)"/.exec(text)[1];
  return [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => {
    const id = `${kebab(title)}--${kebab(name)}`;
    return { type: "story", id, title, name, importPath: `./${relative(ROOT, file)}`, file, export: name };
  });
}

/** Runs in the page. */
function show(modules, sources, preview) {
  const loaded = {};
  const load = (file) => {
    if (!loaded[file]) {
      const module = (loaded[file] = { exports: {} });
      const [needed, run] = modules[file];
      run(module, module.exports, (name) => load(needed[name]));
    }
    return loaded[file].exports;
  };
  const { createElement } = load(sources.react);
  const { createRoot } = load(sources.dom);
  const story = sources.stories[new URLSearchParams(location.search).get("id")];
  load(preview);
  const { default: meta, [story.export]: shown } = load(story.file);
  const args = { ...meta.args, ...shown.args };
  const element = shown.render ? createElement(() => shown.render(args)) : createElement(meta.component, args);
  createRoot(document.getElementById("storybook-root")).render(element);
}

const entries = stories.flatMap(index);
const react = resolve("react", PREVIEW);
const dom = resolve("react-dom/client", PREVIEW);
const sources = { react, dom, stories: Object.fromEntries(entries.map((one) => [one.id, { file: one.file, export: one.export }])) };
const script = `(${show})(${bundle([react, dom, PREVIEW, ...stories])}, ${JSON.stringify(sources)}, ${JSON.stringify(PREVIEW)})`;
const published = Object.fromEntries(entries.map(({ file, export: name, ...entry }) => [entry.id, entry]));

mkdirSync(out, { recursive: true });
writeFileSync(join(out, "index.json"), JSON.stringify({ v: 5, entries: published }, null, 2));
writeFileSync(join(out, "stories.js"), `var process = { env: { NODE_ENV: "production" } };\n${script};\n`);
writeFileSync(
  join(out, "iframe.html"),
  `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Stories</title></head>\n<body><div id="storybook-root"></div><script src="stories.js"></script></body>\n</html>\n`,
);
console.log(`${entries.length} stories in ${out}`);
