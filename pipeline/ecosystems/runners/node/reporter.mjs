// Node's own JUnit reporter, with a suite around each file: before Node 24 it says nothing of files, and it never says that
// a group's hook failed. A comment does, with the file's name escaped, since comments hold no two dashes and this one a line.
import { writeSync } from "node:fs";
import { junit } from "node:test/reporters";

const isHook = ({ type, data }) =>
  type === "test:fail" && data.details.type === "suite" && data.details.error.failureType === "hookFailed";
const escaped = (name) => name.replace(/[-%\s]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
const hookComment = (file) => `<!-- hook ${escaped(file)} -->\n`;

async function* byFile(source, failed) {
  let file;
  const close = () => ({ type: "test:pass", data: { name: file, nesting: 0, details: { type: "suite", duration_ms: 0 } } });
  for await (const event of source) {
    if (event.type === "test:start" && event.data.file !== file) {
      if (file) yield close();
      file = event.data.file;
      yield { type: "test:start", data: { name: file, nesting: 0 } };
    }
    if (isHook(event)) failed.add(event.data.file || file);
    const { nesting } = event.data;
    yield nesting === undefined ? event : { ...event, data: { ...event.data, nesting: nesting + 1 } };
  }
  if (file) yield close();
}

export default async function* (source) {
  const failed = new Set();
  yield* junit(byFile(source, failed));
  for (const file of failed) yield hookComment(file);
  // on a line of its own: what the stream of the run still holds may end in the middle of one
  writeSync(1, `\nTest results written to: ${process.env.TEST_REPORT}\n`);
}
