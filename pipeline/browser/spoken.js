// What a screen reader says of the document, phrase by phrase, from its beginning to its end: of an empty one, nothing.
async (most) => {
  const { virtual } = globalThis.screenReader;
  await virtual.start({ container: document.body });
  try {
    for (let step = 0; step < most; step += 1) {
      await virtual.next();
      const last = await virtual.lastSpokenPhrase();
      if (last === "document") return []; // round again, with nothing in between
      if (last === "end of document") break;
    }
    return await virtual.spokenPhraseLog();
  } finally {
    await virtual.stop();
  }
}
