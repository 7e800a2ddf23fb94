// Audits the document that it is evaluated in with axe-core, which is there already: a function of the rules that are
// left out. Gives a list of {rule, criteria, element}. An element is told by the roles and names on the way to it,
// never by a class; the second one of a rule that is told alike is `… [2]`.
// Only WCAG's rules, no advice. Written for the oldest Node whose jsdom takes axe-core.
async (without) => {
  const LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const LONGEST_NAME = 80;
  const { axe, document } = window;
  const rules = {};
  without.forEach((rule) => (rules[rule] = { enabled: false }));

  const criterion = (tag) => /^wcag(\d)(\d)(\d+)$/.exec(tag);
  const criteria = (tags) => tags.map(criterion).filter(Boolean).map((found) => found.slice(1).join("."));

  // axe-core throws where the value of an empty select is part of a name
  function named(element) {
    try {
      return axe.commons.text.accessibleText(element);
    } catch (_) {
      return "";
    }
  }

  function told(element) {
    const role = axe.commons.aria.getRole(element, { noPresentational: true });
    const name = named(element).replace(/\s+/g, " ").trim().slice(0, LONGEST_NAME);
    return { role, words: (role || element.localName) + (name ? ` ${JSON.stringify(name)}` : "") };
  }

  function way(element) {
    const steps = [told(element).words];
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
      const { role, words } = told(one);
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

  const how = { resultTypes: ["violations"], runOnly: LEVELS, rules, elementRef: true, iframes: false, preload: false };
  const { violations } = await axe.run(document.body, how);
  axe.setup(document.body);
  const rows = violations.map(({ id, tags, nodes }) => {
    const elements = numbered(nodes.map((node) => way(node.element)));
    return elements.map((element) => ({ rule: id, criteria: criteria(tags), element }));
  });
  axe.teardown();
  return [].concat(...rows);
}
