// Small components of every kind that assistive technologies tell apart. `h` makes an element: plain, or with styles.
// Each is a function of a scene: the words, and a number that decides its states.
const SCENES = [
  { number: 0, thing: "Berth", things: ["North pier", "South pier", "Fuel dock"], hint: "Ask the harbour master" },
  { number: 1, thing: "Tide", things: ["Low water", "High water", "Slack"], hint: "Times are local" },
  { number: 2, thing: "Cargo", things: ["Timber", "Grain", "Salt"], hint: "Weight in tonnes" },
];

const COMPONENTS = {
  button: (h, { thing, number }) => h("button", { type: "button", disabled: number === 2 }, `Book ${thing}`),
  iconButton: (h, { thing }) =>
    h("button", { type: "button", "aria-label": `Close ${thing}` }, h("svg", { "aria-hidden": "true" }, h("path"))),
  toggle: (h, { thing, number }) => h("button", { type: "button", "aria-pressed": number !== 0 }, `Follow ${thing}`),
  link: (h, { thing, number }) =>
    h("nav", { "aria-label": "Pages" }, h("a", { href: `#${number}`, "aria-current": "page" }, thing), h("a", { href: "#all" }, "All")),
  checkbox: (h, { thing, number }) =>
    h("div", {}, h("input", { type: "checkbox", id: "box", defaultChecked: number === 1, required: true }), h("label", { htmlFor: "box" }, thing)),
  radioGroup: (h, { thing, things }) =>
    h("div", { role: "radiogroup", "aria-label": thing }, ...things.map((one, place) =>
      h("span", { key: one, role: "radio", tabIndex: place ? -1 : 0, "aria-checked": place === 0 }, one))),
  switch: (h, { thing, number }) =>
    h("div", { role: "switch", tabIndex: 0, "aria-checked": number === 1, "aria-label": `Alarm for ${thing}` }, h("span", {}, "On")),
  tabs: (h, { thing, things }) =>
    h("section", {}, h("div", { role: "tablist", "aria-label": thing }, ...things.map((one, place) =>
      h("button", { key: one, role: "tab", id: `tab-${place}`, "aria-controls": "panel", "aria-selected": place === 0, tabIndex: place ? -1 : 0 }, one))),
      h("div", { role: "tabpanel", id: "panel", "aria-labelledby": "tab-0", tabIndex: 0 }, things[0])),
  accordion: (h, { thing, number }) =>
    h("div", {}, h("h3", {}, h("button", { type: "button", "aria-expanded": number !== 1, "aria-controls": "part", id: "head" }, thing)),
      h("div", { role: "region", id: "part", "aria-labelledby": "head" }, "Details")),
  menu: (h, { thing, things }) =>
    h("div", {}, h("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": true }, thing),
      h("ul", { role: "menu", "aria-label": thing }, ...things.map((one, place) => h("li", { key: one, role: "menuitem", tabIndex: place ? -1 : 0 }, one)))),
  menuChoices: (h, { thing, things }) =>
    h("div", { role: "menu", "aria-label": thing }, ...things.map((one, place) =>
      h("div", { key: one, role: "menuitemcheckbox", "aria-checked": place === 1, tabIndex: place ? -1 : 0 }, one))),
  listbox: (h, { thing, things, number }) =>
    h("div", { role: "listbox", tabIndex: 0, "aria-label": thing, "aria-multiselectable": number === 1, "aria-activedescendant": "item-0" },
      ...things.map((one, place) => h("div", { key: one, role: "option", id: `item-${place}`, "aria-selected": place === number }, one))),
  combobox: (h, { thing, things, number }) =>
    h("div", {}, h("input", { role: "combobox", "aria-expanded": number !== 0, "aria-controls": "choices", "aria-label": thing, autoComplete: "off" }),
      h("ul", { role: "listbox", id: "choices", "aria-label": thing }, ...things.map((one) => h("li", { key: one, role: "option", "aria-selected": false }, one)))),
  dialog: (h, { thing, hint }) =>
    h("div", { role: "dialog", "aria-modal": true, "aria-labelledby": "title", "aria-describedby": "about" },
      h("h2", { id: "title" }, thing), h("p", { id: "about" }, hint), h("button", { type: "button" }, "Close")),
  alert: (h, { thing }) => h("div", {}, h("div", { role: "alert" }, `${thing} is full`)),
  status: (h, { thing, number }) => h("div", {}, h("p", { role: "status" }, `${number} of ${thing} found`)),
  politeRegion: (h, { thing }) => h("div", {}, h("div", { "aria-live": "polite", "aria-atomic": true }, thing)),
  log: (h, { thing, things }) => h("div", { role: "log", "aria-label": thing }, ...things.map((one) => h("p", { key: one }, one))),
  progress: (h, { thing, number }) =>
    h("div", { role: "progressbar", "aria-label": thing, "aria-valuenow": 10 * number, "aria-valuemin": 0, "aria-valuemax": 100 }),
  slider: (h, { thing, number }) =>
    h("div", {}, h("span", { id: "what" }, thing), h("div", { role: "slider", tabIndex: 0, "aria-labelledby": "what", "aria-valuenow": number, "aria-valuemin": 0, "aria-valuemax": 9, "aria-disabled": number === 2 })),
  spinButton: (h, { thing, number }) =>
    h("div", { role: "spinbutton", tabIndex: 0, "aria-label": thing, "aria-valuenow": number, "aria-required": true }, String(number)),
  textField: (h, { thing, hint }) =>
    h("div", {}, h("label", { htmlFor: "field" }, thing), h("input", { id: "field", type: "text", required: true, "aria-describedby": "hint" }), h("p", { id: "hint" }, hint)),
  wrongField: (h, { thing, hint }) =>
    h("div", {}, h("input", { type: "email", "aria-label": thing, "aria-invalid": true, "aria-describedby": "wrong" }), h("span", { id: "wrong", role: "alert" }, hint)),
  textArea: (h, { thing, hint }) =>
    h("div", {}, h("label", { htmlFor: "area" }, thing), h("textarea", { id: "area", readOnly: true, "aria-describedby": "more" }), h("small", { id: "more" }, hint)),
  select: (h, { thing, things, number }) =>
    h("div", {}, h("label", { htmlFor: "choice" }, thing), h("select", { id: "choice", disabled: number === 1 }, ...things.map((one) => h("option", { key: one }, one)))),
  search: (h, { thing }) =>
    h("form", { role: "search" }, h("input", { type: "search", "aria-label": `Search ${thing}`, placeholder: "Words" }), h("button", { type: "submit" }, "Search")),
  breadcrumb: (h, { things }) =>
    h("nav", { "aria-label": "Breadcrumb" }, h("ol", {}, ...things.map((one, place) => h("li", { key: one }, h("a", { href: `#${place}`, "aria-current": place === 2 ? "page" : undefined }, one))))),
  table: (h, { thing, things }) =>
    h("table", {}, h("caption", {}, thing), h("thead", {}, h("tr", {}, h("th", { scope: "col", "aria-sort": "ascending" }, h("button", { type: "button" }, "Name")), h("th", { scope: "col" }, "Free"))),
      h("tbody", {}, ...things.map((one, place) => h("tr", { key: one }, h("td", {}, one), h("td", {}, String(place)))))),
  grid: (h, { thing, things }) =>
    h("div", { role: "grid", "aria-label": thing }, h("div", { role: "row" }, ...things.map((one, place) =>
      h("span", { key: one, role: "gridcell", "aria-selected": place === 0, tabIndex: place ? -1 : 0 }, one)))),
  tree: (h, { thing, things }) =>
    h("ul", { role: "tree", "aria-label": thing }, ...things.map((one, place) =>
      h("li", { key: one, role: "treeitem", "aria-expanded": place === 0, "aria-selected": place === 1, tabIndex: place ? -1 : 0 }, one))),
  tooltip: (h, { thing, hint }) =>
    h("div", {}, h("button", { type: "button", "aria-describedby": "tip" }, thing), h("div", { role: "tooltip", id: "tip" }, hint)),
  toolbar: (h, { thing, things }) =>
    h("div", { role: "toolbar", "aria-label": thing }, ...things.map((one, place) => h("button", { key: one, type: "button", "aria-pressed": place === 0 }, one))),
  card: (h, { thing, hint }) =>
    h("article", { "aria-labelledby": "card" }, h("h2", { id: "card" }, thing), h("p", {}, hint), h("a", { href: "#more" }, `More of ${thing}`)),
  image: (h, { thing, hint }) => h("figure", {}, h("img", { src: "boat.png", alt: `${thing}, seen from the sea` }), h("figcaption", {}, hint)),
  rating: (h, { thing, number }) => h("div", {}, h("span", { role: "img", "aria-label": `${thing}: ${number} of 5` }, h("span", { "aria-hidden": true }, "*"))),
  busyList: (h, { thing, things }) => h("ul", { "aria-busy": true, "aria-label": thing }, ...things.map((one) => h("li", { key: one }, one))),
};

module.exports = { SCENES, COMPONENTS };
