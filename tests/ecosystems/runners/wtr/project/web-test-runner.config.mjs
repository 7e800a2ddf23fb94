export default {
  files: "test/*.test.js",
  browsers: [],
  groups: [{ name: "others", files: "none/*.js" }],
  testFramework: { config: { bail: true } },
};
