// Before version 21 Jest's report has the titles of tests without their groups: put them in.
"use strict";

module.exports = (results) => {
  for (const file of results.testResults)
    for (const test of file.testResults) test.title = test.ancestorTitles.concat(test.title).join(" > ");
  return results;
};
