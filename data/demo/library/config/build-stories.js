/**
 * Builds all stories as a static site in Storybook's format, without Storybook: `npm run build-storybook -- -o DIR`.
 * Writes `index.json` (what there is) and `iframe.html`, which shows the story of `?id=` in `#storybook-root`.
 */
const { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, join, relative } = require("node:path");
const { transform } = require("sucrase");

const ROOT = dirname(__dirname);
const PREVIEW = join(ROOT, ".storybook", "preview.ts");
const SYNTAX = { transforms: ["typescript", "jsx", "imports"], jsxRuntime: "automatic", production: true };
const FRAME = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Stories</title></head>
<body><div id="storybook-root"></div><script src="stories.js"></script></body>
</html>
`;

const read = (file) => readFileSync(file, "utf8");
const kebab = (text) => text.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase();

/** The file that `name` means in `file`. */
function resolve(name, file) {
  if (!name.startsWith(".")) return createRequire(file).resolve(name);
  const path = join(dirname(file), name);
  const found = [".tsx", ".ts", ""].map((end) => path + end).find(existsSync);
  if (!found) throw new Error(`${relative(ROOT, file)}: there is no ${name}`);
  return found;
}

/** A style sheet with all that it imports. */
function styles(file) {
  return read(file).replace(/@import "(.+?)";/g, (_, name) => styles(resolve(name, file)));
}

/** A file as a CommonJS module for the browser. */
function code(file) {
  if (file.endsWith(".css")) {
    const sheet = JSON.stringify(styles(file));
    return `document.head.append(Object.assign(document.createElement("style"), { textContent: ${sheet} }));`;
  }
  return /\.tsx?$/.test(file) ? transform(read(file), SYNTAX).code : read(file);
}

/** What a module asks for, by name. React's development builds are left out. */
function required(file, text) {
  const names = file.endsWith(".css") ? [] : [...text.matchAll(/\brequire\(["'](.+?)["']\)/g)].map((match) => match[1]);
  const wanted = names.filter((name) => !name.includes(".development."));
  return Object.fromEntries(wanted.map((name) => [name, resolve(name, file)]));
}

/** All modules that these files need: an object of functions that take their own `require`. */
function bundle(files) {
  const modules = new Map();
  const queue = [...files];
  for (const file of queue) {
    if (modules.has(file)) continue;
    const text = code(file);
    const needed = required(file, text);
    modules.set(file, `[${JSON.stringify(needed)}, function (module, exports, require) {${text}\n}]`);
    queue.push(...Object.values(needed));
  }
  return `{${[...modules].map(([file, text]) => `${JSON.stringify(file)}: ${text}`).join(",\n")}}`;
}

/** The stories of a file, as `index.json` lists them, and where each comes from. */
function stories(file) {
  const text = read(file);
  const title = /title: "(.+?)"/.exec(text)[1];
  const importPath = `./${relative(ROOT, file)}`;
  return [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => ({
    entry: { type: "story", id: `${kebab(title)}--${kebab(name)}`, title, name, importPath },
    source: { file, name },
  }));
}

/** Runs in the page: shows the story that its address asks for. */
function show(modules, known) {
  const loaded = {};
  const load = (file) => {
    if (!loaded[file]) {
      const module = (loaded[file] = { exports: {} });
      const [needed, run] = modules[file];
      run(module, module.exports, (name) => load(needed[name]));
    }
    return loaded[file].exports;
  };
  const { file, name } = known.stories[new URLSearchParams(location.search).get("id")];
  const { createElement } = load(known.react);
  const { createRoot } = load(known.dom);
  load(known.preview);
  const { default: meta, [name]: story } = load(file);
  const args = { ...meta.args, ...story.args };
  const element = story.render ? createElement(() => story.render(args)) : createElement(meta.component, args);
  createRoot(document.getElementById("storybook-root")).render(element);
}

const out = process.argv[process.argv.indexOf("-o") + 1];
const files = readdirSync(join(ROOT, "src"), { recursive: true })
  .filter((name) => name.endsWith(".stories.tsx"))
  .map((name) => join(ROOT, "src", name));
const all = files.sort().flatMap(stories);
const known = {
  react: resolve("react", PREVIEW),
  dom: resolve("react-dom/client", PREVIEW),
  preview: PREVIEW,
  stories: Object.fromEntries(all.map(({ entry, source }) => [entry.id, source])),
};
const entries = Object.fromEntries(all.map(({ entry }) => [entry.id, entry]));
const modules = bundle([known.react, known.dom, PREVIEW, ...files]);

mkdirSync(out, { recursive: true });
writeFileSync(join(out, "index.json"), JSON.stringify({ v: 5, entries }, null, 2));
writeFileSync(
  join(out, "stories.js"),
  `var process = { env: { NODE_ENV: "production" } };\n(${show})(${modules}, ${JSON.stringify(known)});\n`,
);
writeFileSync(join(out, "iframe.html"), FRAME);
console.log(`${all.length} stories in ${out}`);
