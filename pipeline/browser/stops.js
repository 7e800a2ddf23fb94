// Marks each tab stop of the page with its place in the order of the Tab key.
() => {
  const MARK = "data-a11y-bench-stop";
  const FOCUSABLE =
    "a[href], area[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable], [controls]";
  document.querySelectorAll(`[${MARK}]`).forEach((one) => one.removeAttribute(MARK));
  const stops = [...document.body.querySelectorAll(FOCUSABLE)].filter(
    (one) =>
      one.tabIndex >= 0 &&
      !one.matches(":disabled, [contenteditable=false], [type=hidden], [inert], [inert] *") &&
      one.checkVisibility({ visibilityProperty: true }),
  );
  const order = (one) => one.tabIndex || Infinity;
  stops.sort((one, other) => (order(one) === order(other) ? 0 : order(one) - order(other)));
  stops.forEach((one, place) => one.setAttribute(MARK, place + 1));
}
