/** Files below this many characters go together; the others are a few, and seldom needed by all commands. */
const small = 32_768;
const place = "parts.js";

/**
 * Puts the small files of a bundle (`files`, CommonJS texts by name) that others share into one: `serve` needs 30 of
 * them, and to look for, open and read a file takes longer than to run a small one. Each part still runs when it is
 * first asked for. The result is the same as `files`, without them and with that file. To remove this, remove its call
 * in bundle.mjs.
 */
export function withSmallParts(files) {
  const parts = [...files].filter(([name, text]) => /^chunk-/.test(name) && text.length < small);
  const names = new Set(parts.map(([name]) => name));
  const asked = (text, ask) =>
    text.replace(/\brequire\("\.\/([^"]+)"\)/g, (call, name) => (names.has(name) ? `${ask}("${name}")` : call));
  const others = [...files].filter(([name]) => !names.has(name));
  return new Map([
    ...others.map(([name, text]) => [name, asked(text, `require("./${place}")`)]),
    [place, together(parts.map(([name, text]) => [name, asked(text, "part")]))],
  ]);
}

function together(parts) {
  const functions = parts.map(([name, text]) => `"${name}"(module, exports) {\n${text}\n}`);
  return `const parts = {\n${functions.join(",\n")}
};
const loaded = new Map();
function part(name) {
  let module = loaded.get(name);
  if (module === undefined) {
    loaded.set(name, (module = { exports: {} }));
    parts[name](module, module.exports);
  }
  return module.exports;
}
module.exports = part;
`;
}
