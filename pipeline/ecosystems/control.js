$it("$title", function () {
  return Promise.all([$matchers].map(function (name) {
    return Promise.all([undefined, {}, "$title"].map(function (value) {
      return new Promise(function (done) { done($expect(value)[name]("$title!")); });
    })).then(function () { return true; }, function () { return false; });
  })).then(function (passes) {
    if (passes.indexOf(true) < 0) throw new Error("$title");
  });
});
