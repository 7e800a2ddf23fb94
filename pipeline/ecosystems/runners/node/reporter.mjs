// Node's own JUnit reporter, with a suite around each file: before Node 24 it says nothing of files.
import { writeSync } from "node:fs";
import { junit } from "node:test/reporters";

async function* byFile(source) {
  let file;
  const close = () => ({ type: "test:pass", data: { name: file, nesting: 0, details: { type: "suite", duration_ms: 0 } } });
  for await (const event of source) {
    if (event.type === "test:start" && event.data.file !== file) {
      if (file) yield close();
      file = event.data.file;
      yield { type: "test:start", data: { name: file, nesting: 0 } };
    }
    const { nesting } = event.data;
    yield nesting === undefined ? event : { ...event, data: { ...event.data, nesting: nesting + 1 } };
  }
  if (file) yield close();
}

export default async function* (source) {
  yield* junit(byFile(source));
  writeSync(1, `Test results written to: ${process.env.TEST_REPORT}\n`);
}
