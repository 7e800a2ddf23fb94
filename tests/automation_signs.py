"""A page that writes every sign of automation that it finds into paragraphs: in itself, in frames and in workers."""

from __future__ import annotations

import json

#: reads signs wherever it runs; a worker has fewer properties
READ = """
const read = async () => {
  const { userAgentData: data, plugins, userAgent, appVersion } = navigator;
  const said = data ? [data.brands, data.toJSON(), await data.getHighEntropyValues(["fullVersionList"])] : [];
  const isPage = Boolean(self.document);
  return Object.entries({
    webdriver: navigator.webdriver,
    agent: /headless/i.test([userAgent, appVersion, JSON.stringify(said)].join()),
    plugins: isPage && !(plugins.length && plugins[0].name && plugins instanceof PluginArray),
    types: isPage && !(navigator.mimeTypes.namedItem("application/pdf") && navigator.pdfViewerEnabled),
    chrome: isPage && !self.chrome,
    offline: isPage && !navigator.onLine,
    refused: isPage && Notification.permission === "denied",
  }).flatMap(([name, isThere]) => (isThere ? [name] : []));
};
"""
FRAME = f"<script>{READ} read().then((signs) => parent.postMessage(signs, '*'))</script>"
WORKER = f"{READ} read().then((signs) => postMessage(signs));"
SCRIPT = f"""{READ}
const write = (where) => (signs) => {{
  const text = `${{where}}: ${{signs.join() || "nothing"}}`;
  document.querySelector("main").append(Object.assign(document.createElement("p"), {{ textContent: text }}));
}};
const [frame, code] = {json.dumps([FRAME, WORKER]).replace("</", "<" + chr(92) + "/")};
const frames = {{
  "a frame": {{ srcdoc: frame }},
  "a frame with a sandbox": {{ srcdoc: frame, sandbox: "allow-scripts" }},
  "a frame in a process of its own": {{ src: "data:text/html," + encodeURIComponent(frame), sandbox: "allow-scripts" }},
}};
const frameOf = ([title, how]) => [title, Object.assign(document.createElement("iframe"), {{ title, ...how }})];
const made = new Map(Object.entries(frames).map(frameOf));
onmessage = ({{ source, data }}) => write([...made].find(([, one]) => one.contentWindow === source)[0])(data);
document.querySelector("main").append(...made.values());
new Worker(URL.createObjectURL(new Blob([code]))).onmessage = ({{ data }}) => write("a worker")(data);
read().then(write("the page"));
"""
PLACES = ("the page", "a frame", "a frame with a sandbox", "a frame in a process of its own", "a worker")
