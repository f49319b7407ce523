import type { X509Certificate } from "node:crypto";

/** What a certificate says of its owner. */
export interface CertificateNames {
  /** `CN=edge-1, O=shop`; undefined: none, or one that could be read in two ways. */
  readonly subject: string | undefined;
  /** In lower case. */
  readonly dns: readonly string[];
  readonly uris: readonly string[];
  /** By SPIFFE's rules; undefined: none. */
  readonly spiffe: string | undefined;
  /** When it ends, in milliseconds since 1970. */
  readonly validTo: number;
}

/** Reads the names in a certificate that TLS has verified. What cannot be read for sure counts as not there. */
export function certificateNames(certificate: X509Certificate): CertificateNames {
  const names = alternativeNames(certificate.subjectAltName ?? "");
  const of = (kind: string) => names.flatMap(([name, value]) => (name === kind ? value : []));
  const uris = of("URI");
  const [uri] = uris;
  // X509-SVID: a leaf with exactly one URI.
  const isSpiffe = uris.length === 1 && uri !== undefined && !certificate.ca && isSpiffeId(uri);
  return {
    // Read only where a rule asks for it: it costs more than all the others.
    get subject() {
      return subjectOf(certificate);
    },
    dns: of("DNS").flatMap((name) => (/^[A-Za-z0-9_.-]+$/.test(name) ? name.toLowerCase() : [])),
    uris,
    spiffe: isSpiffe ? uri : undefined,
    validTo: Date.parse(certificate.validTo),
  };
}

/** Node writes them as `DNS:a, URI:b`, and one with a character that matters here as a JSON string (CVE-2021-44532). */
function alternativeNames(text: string): readonly (readonly [kind: string, value: string])[] {
  const entry = /([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^",]*))(?:, |$)/y;
  const names: [string, string][] = [];
  while (entry.lastIndex < text.length) {
    const found = entry.exec(text);
    // One name that cannot be read may hide another one: then there are none.
    if (found === null) return [];
    const [, kind = "", quoted, plain = ""] = found;
    const value = quoted === undefined ? plain : unquoted(quoted);
    if (value === undefined) return [];
    names.push([kind, value]);
  }
  return names;
}

function unquoted(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

/** A subject whose values hold a character that stands between values could be read as another one. */
function subjectOf(certificate: X509Certificate): string | undefined {
  const { subject } = certificate.toLegacyObject();
  const fields = Object.entries(subject ?? {});
  const isPlain = fields.every(([, value]) => typeof value === "string" && !/[,=+"\\\n]/.test(value));
  if (fields.length === 0 || !isPlain) return undefined;
  return fields
    .map(([name, value]) => `${name}=${String(value)}`)
    .reverse()
    .join(", ");
}

/** SPIFFE-ID, 2: a trust domain and segments, and nothing else that a URI may have. */
export function isSpiffeId(uri: string): boolean {
  if (uri.length > 2_048) return false;
  const found = /^spiffe:\/\/([a-z0-9._-]{1,255})((?:\/[A-Za-z0-9._-]+)*)$/.exec(uri);
  return found !== null && !(found[2] ?? "").split("/").some((segment) => segment === "." || segment === "..");
}
