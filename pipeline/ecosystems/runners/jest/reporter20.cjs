// Adds the groups to the titles of tests, which Jest's report lacks before version 21.
"use strict";

module.exports = (results) => {
  for (const file of results.testResults)
    for (const test of file.testResults) test.title = test.ancestorTitles.concat(test.title).join(" > ");
  return results;
};
