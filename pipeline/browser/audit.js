// Audits the document in which it is evaluated with axe-core, which must be loaded already. Takes the rules to leave out,
// returns a list of {rule, criteria, element}. An element is identified by the roles and names of its ancestors and its
// own, never by a class; a second element of a rule with the same identification is `… [2]`.
// Only WCAG's rules, no advice. Written for the oldest Node whose jsdom runs axe-core.
async (without) => {
  const LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const LONGEST_NAME = 80;
  const { axe, document } = window;
  const rules = {};
  without.forEach((rule) => (rules[rule] = { enabled: false }));

  const criterion = (tag) => /^wcag(\d)(\d)(\d+)$/.exec(tag);
  const criteria = (tags) => tags.map(criterion).filter(Boolean).map((found) => found.slice(1).join("."));

  // axe-core throws if the value of an empty select is part of a name
  function named(element) {
    try {
      return axe.commons.text.accessibleText(element);
    } catch (_) {
      return "";
    }
  }

  function described(element) {
    const role = axe.commons.aria.getRole(element, { noPresentational: true });
    const name = named(element).replace(/\s+/g, " ").trim().slice(0, LONGEST_NAME);
    return { role, words: (role || element.localName) + (name ? ` ${JSON.stringify(name)}` : "") };
  }

  function pathTo(element) {
    const steps = [described(element).words];
    for (let outer = element.parentElement; outer && outer !== document.body; outer = outer.parentElement) {
      const { role, words } = described(outer);
      if (role) steps.unshift(words);
    }
    return steps.join(" > ");
  }

  function numbered(elements) {
    const counts = {};
    return elements.map((element) => {
      counts[element] = (counts[element] || 0) + 1;
      return counts[element] > 1 ? `${element} [${counts[element]}]` : element;
    });
  }

  const options = { resultTypes: ["violations"], runOnly: LEVELS, rules, elementRef: true, iframes: false, preload: false };
  const { violations } = await axe.run(document.body, options);
  axe.setup(document.body);
  const rows = violations.map(({ id, tags, nodes }) => {
    const elements = numbered(nodes.map((node) => pathTo(node.element)));
    return elements.map((element) => ({ rule: id, criteria: criteria(tags), element }));
  });
  axe.teardown();
  return [].concat(...rows);
}
