// Node's own JUnit reporter, with a suite around each file, since it does not report files before Node 24. It never
// reports that a group's hook failed, so we add a comment that names the file. The name is escaped, because a comment
// cannot contain two dashes and ours must be a single line.
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
  // on a line of its own, since output that is still buffered may end in the middle of a line
  writeSync(1, `\nTest results written to: ${process.env.TEST_REPORT}\n`);
}
