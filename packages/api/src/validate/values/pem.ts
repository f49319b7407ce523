/** One block of a PEM text, from its BEGIN line to its END line. */
export interface PemBlock {
  /** The label of the BEGIN line, such as `CERTIFICATE`. */
  readonly label: string;
  /** In the usual form, with lines of 64 characters; as it is if it has headers. */
  readonly text: string;
  /** The content. Undefined if it has headers, as encrypted keys of the old form have. */
  readonly der: Uint8Array | undefined;
}

/** Lines may end with spaces and a carriage return; nothing may stand in front. */
const begin = /^-----BEGIN ([^-]*)-----\s*$/;

/**
 * The blocks of a PEM text in their order. Ends with `"broken"` at a block that has no matching END line, or a content
 * that is not base64: TLS libraries read no further. Text between blocks does not count.
 */
export function* pemBlocks(text: string): Generator<PemBlock | "broken"> {
  const lines = text.split("\n");
  for (let from = 0; from < lines.length; from += 1) {
    const label = begin.exec(lines[from] as string)?.[1];
    if (label === undefined) continue;
    let to = from + 1;
    while (to < lines.length && !(lines[to] as string).startsWith("-----END ")) to += 1;
    const content = lines.slice(from + 1, to);
    const hasHeaders = content.some((line) => line.includes(":"));
    const base64 = hasHeaders ? "" : content.join("").replaceAll(/\s/g, "");
    if (lines[to]?.trimEnd() !== `-----END ${label}-----` || !isBase64(base64)) {
      yield "broken";
      return;
    }
    const der = hasHeaders ? undefined : Buffer.from(base64, "base64");
    const inner = hasHeaders ? content : (base64.match(/.{1,64}/g) ?? []);
    yield { label, text: [`-----BEGIN ${label}-----`, ...inner, `-----END ${label}-----`, ""].join("\n"), der };
    from = to;
  }
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(text);
}

/** Whether bytes are one ASN.1 sequence and nothing else, as all keys are. */
export function isSequence(der: Uint8Array): boolean {
  const [tag, first = 0] = der;
  if (tag !== 0x30) return false;
  if (first < 0x80) return der.length === 2 + first;
  const size = first - 0x80;
  let length = 0;
  for (const byte of der.subarray(2, 2 + size)) length = length * 0x100 + byte;
  return der.length === 2 + size + length;
}
