"use strict";
// Checks one page against the HTML standard: reads it from standard input, writes its faults as a JSON list of
// {rule, message, line, column}. Argument: the folder in which html-validate is installed. Writes nothing else.
const fs = require("fs");
const path = require("path");
const { HtmlValidate, StaticConfigLoader } = require(path.join(process.argv[2], "node_modules", "html-validate"));

const RULES = { extends: ["html-validate:standard"] };
const MOST = 1000;
// A page must not switch rules off: its directives become text.
const DIRECTIVE = /\[html-validate-/g;

// Half of a character, which no record can hold.
const HALF = /\p{Surrogate}/gu;
const whole = (_, value) => (typeof value === "string" ? value.replace(HALF, "\ufffd") : value);

const main = async () => {
  const page = fs.readFileSync(0, "utf8").replace(DIRECTIVE, "[html validate-");
  const checker = new HtmlValidate(new StaticConfigLoader(RULES));
  const { results } = await checker.validateString(page, "page.html");
  const found = results.flatMap(({ messages }) => messages).slice(0, MOST);
  const told = found.map(({ ruleId, message, line, column }) => ({ rule: ruleId, message: message.slice(0, 300), line, column }));
  fs.writeFileSync(1, JSON.stringify(told, whole));
};

main();
