"use strict";
// Whether a page shows anything: a text, or something drawn that is larger than a dot.
const SHOWN = () => {
  const drawn = "img, svg, canvas, video, input, button, select, textarea, iframe, object";
  const large = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const body = document.body;
  if (!body) return false;
  return body.innerText.trim() !== "" || [...body.querySelectorAll(drawn)].some(large);
};

module.exports.run = async ({ page, assert }) => {
  await assert("renders", () => page.evaluate(SHOWN));
};
