/** Whether a token is a string, in either kind of quotes. */
export function isQuoted(text: string): boolean {
  return text.startsWith('"') || text.startsWith("'");
}

/** The end of the string that begins here: the same quote without a backslash before it, or the end of the text. */
export function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let end = text.indexOf(quote, start + 1); end !== -1; end = text.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** A string in JSON's notation. */
export function inDoubleQuotes(text: string): string {
  const pieces: string[] = [];
  let from = 1;
  for (let at = 1; at < text.length - 1; at++) {
    const code = text.charCodeAt(at);
    const isEscape = code === 0x5c /* \ */;
    const isRaw = code < 0x20 || code === 0x22 /* " */;
    if (isRaw || (isEscape && text[at + 1] === "'")) {
      pieces.push(text.slice(from, at), isRaw ? JSON.stringify(text[at]).slice(1, -1) : "");
      from = at + 1;
    }
    if (isEscape) at++;
  }
  return `"${pieces.join("")}${text.slice(from, -1)}"`;
}
