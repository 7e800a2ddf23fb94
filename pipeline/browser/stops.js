// Marks each tab stop of the page with its place in the order of the Tab key.
() => {
  const MARK = "data-a11y-bench-stop";
  const FOCUSABLE =
    "a[href], area[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable], [controls]";
  document.querySelectorAll(`[${MARK}]`).forEach((element) => element.removeAttribute(MARK));
  const stops = [...document.body.querySelectorAll(FOCUSABLE)].filter(
    (element) =>
      element.tabIndex >= 0 &&
      !element.matches(":disabled, [contenteditable=false], [type=hidden], [inert], [inert] *") &&
      element.checkVisibility({ visibilityProperty: true }),
  );
  const order = (element) => element.tabIndex || Infinity;
  stops.sort((first, second) => (order(first) === order(second) ? 0 : order(first) - order(second)));
  stops.forEach((element, index) => element.setAttribute(MARK, index + 1));
}
