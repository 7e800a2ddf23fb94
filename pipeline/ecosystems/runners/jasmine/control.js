describe("$title", function () {
  it("fails", function () { throw new Error("$title"); });
  [$matchers].forEach(function (name) {
    it(name, function () {
      [undefined, {}, "$title"].forEach(function (value) { expect(value)[name]("$title!"); });
    });
  });
});
