"use strict";
// Checks one page against the HTML standard: reads it from standard input, writes its faults as a JSON list of
// {rule, message, line, column}. Argument: the folder in which html-validate is installed. Writes nothing else.
// Also demands a doctype and the tags of NEEDED, which the standard allows to leave out.
const fs = require("fs");
const path = require("path");
const { HtmlValidate, StaticConfigLoader } = require(path.join(process.argv[2], "node_modules", "html-validate"));

const RULES = { extends: ["html-validate:standard"] };
const MOST = 1000;
// A page must not switch rules off: its directives become text.
const DIRECTIVE = /\[html-validate-/g;

// What each page must have, by its name in the source text.
const NEEDED = { "!doctype": "doctype", html: "<html>", head: "<head>", title: "<title>", body: "<body>" };
const REST = String.raw`(?:=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$))|[^>=]+|=)*(?:>|$)`;
const INERT = "script|style|template|textarea|title|noscript|iframe|svg|math";
// A comment, an element whose content is not the page's, or a tag. What has no end goes on to the end of the page, so
// the time is in proportion to its length.
const PIECE = new RegExp(
  String.raw`<!--[^]*?(?:-->|$)|<(${INERT})(?=[\s/>])[^]*?(?:</\1(?=[\s/>])|$)|<(!?[a-z][^\s/>]*)${REST}`,
  "gi",
);

// The names of NEEDED that a page does not have.
const missing = (page) => {
  const found = new Set([...page.matchAll(PIECE)].map(([, inert, name]) => (inert || name || "").toLowerCase()));
  return Object.keys(NEEDED).filter((name) => !found.has(name));
};
const asFault = (name) => ({
  rule: `missing-${name.replace("!", "")}`,
  message: `The page has no ${NEEDED[name]}`,
  line: 1,
  column: 1,
});
// html-validate says the same of some of them.
const isRepeated = ({ ruleId, message }, gone) =>
  ruleId === "element-required-content" && gone.some((name) => message.includes(`must have <${name}>`));

// Half of a character, which no record can hold.
const HALF = /\p{Surrogate}/gu;
const whole = (_, value) => (typeof value === "string" ? value.replace(HALF, "\ufffd") : value);

const main = async () => {
  const page = fs.readFileSync(0, "utf8").replace(DIRECTIVE, "[html validate-");
  const checker = new HtmlValidate(new StaticConfigLoader(RULES));
  const { results } = await checker.validateString(page, "page.html");
  const gone = missing(page);
  const found = results.flatMap(({ messages }) => messages).filter((one) => !isRepeated(one, gone));
  const told = found.map(({ ruleId, message, line, column }) => ({ rule: ruleId, message: message.slice(0, 300), line, column }));
  const all = [...gone.map(asFault), ...told].slice(0, MOST);
  fs.writeFileSync(1, JSON.stringify(all, whole));
};

main();
