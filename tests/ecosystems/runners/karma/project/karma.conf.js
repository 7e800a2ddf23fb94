module.exports = (config) =>
  config.set({
    frameworks: ["jasmine"],
    files: ["test/*.test.js"],
    browsers: ["Chrome"],
    client: { jasmine: { stopOnSpecFailure: true, failFast: true } },
  });
