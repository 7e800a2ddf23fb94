// What a screen reader says about the document, phrase by phrase, from beginning to end; nothing for an empty document.
async (most) => {
  const { virtual } = globalThis.screenReader;
  await virtual.start({ container: document.body });
  try {
    for (let step = 0; step < most; step += 1) {
      await virtual.next();
      const last = await virtual.lastSpokenPhrase();
      if (last === "document") return []; // back at the beginning, with nothing in between
      if (last === "end of document") break;
    }
    return await virtual.spokenPhraseLog();
  } finally {
    await virtual.stop();
  }
}
