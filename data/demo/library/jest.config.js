/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "jsdom",
  roots: ["<rootDir>/src"],
  setupFilesAfterEnv: ["<rootDir>/config/jest.setup.js"],
  transform: {
    "\\.tsx?$": ["@sucrase/jest-plugin", { jsxRuntime: "automatic", production: true }],
  },
  moduleNameMapper: {
    "\\.css$": "<rootDir>/config/style-stub.js",
  },
  collectCoverage: true,
  coverageReporters: ["lcovonly"],
  coveragePathIgnorePatterns: ["/node_modules/", "/config/", "\\.stories\\.tsx$"],
};
