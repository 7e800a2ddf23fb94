{
  const { defineProperty, entries } = Object;
  const get = (owner, name, value) => defineProperty(owner, name, { get: () => value, configurable: true, enumerable: true });
  const viewers = ["PDF Viewer", "Chrome PDF Viewer", "Chromium PDF Viewer", "Microsoft Edge PDF Viewer", "WebKit built-in PDF"];
  const [filename, description] = ["internal-pdf-viewer", "Portable Document Format"];
  const types = ["application/pdf", "text/pdf"].map((type) => ({ type, suffixes: "pdf", description }));
  // A list with names, as these are: [0], length, item(0), namedItem("PDF Viewer").
  const listed = (type, all, name) => {
    const list = Object.create(type.prototype);
    const properties = { ...all, length: all.length, item: (at) => all[at] ?? null };
    const found = { ...properties, namedItem: (wanted) => all.find((one) => one[name] === wanted) ?? null };
    for (const [key, value] of entries(found)) defineProperty(list, key, { value, enumerable: key in all });
    return defineProperty(list, Symbol.iterator, { value: () => all.values() });
  };
  const plugins = viewers.map((viewer) => ({ name: viewer, filename, description, length: types.length, ...types }));
  get(Navigator.prototype, "plugins", listed(PluginArray, plugins, "name"));
  get(Navigator.prototype, "mimeTypes", listed(MimeTypeArray, types, "type"));
  get(Navigator.prototype, "pdfViewerEnabled", true);
  get(Navigator.prototype, "onLine", true);
  self.chrome ??= { app: {}, csi: () => ({}), loadTimes: () => ({}) };
  if (self.Notification?.permission === "denied") get(Notification, "permission", "default");
}
