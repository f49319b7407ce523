/** Where the API is, without what names a view: `http://127.0.0.1:19000/`. */
function base(): string {
  return new URL(".", location.href.replace(/[?#].*/, "")).href;
}

/** A command that asks the API for the same. */
export function curlOf(path: string): string {
  return `curl -sf ${shellWord(`${base()}api/v1/${path}`)}`;
}

/** A command of xdskit that asks this server: `words` are what comes after `xdskit`. */
export function xdskitOf(...words: readonly string[]): string {
  const server = base().replace(/\/$/, "");
  return ["xdskit", ...words, "--server", server].map(shellWord).join(" ");
}

/** `xdskit status` asks over gRPC, whose port the page does not know: it is the usual one. */
export function statusOf(...words: readonly string[]): string {
  return overGrpc("status", ...words);
}

/** A command that gets one resource as a client does; `more` are further options. */
export function getOf(type: string, name: string, ...more: readonly string[]): string {
  return overGrpc("get", type, name, ...more);
}

function overGrpc(...words: readonly string[]): string {
  return ["xdskit", ...words, "--server", `${location.hostname}:18000`].map(shellWord).join(" ");
}

/** A word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
