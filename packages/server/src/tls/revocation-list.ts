import { constants, verify, type X509Certificate } from "node:crypto";
import type { ASN1 } from "@lapo/asn1js";

/** A list of revoked certificates (CRL; RFC 5280, section 5), whose signature was verified. */
export interface RevocationList {
  /** The authorities that signed it: several certificates may have one key. */
  readonly issuers: readonly X509Certificate[];
  /** Serial numbers, as Node writes them. */
  readonly serials: ReadonlySet<string>;
  readonly thisUpdate: Date;
  /** When a newer list should be there; undefined: it does not say. */
  readonly nextUpdate: Date | undefined;
}

/** Reads a list in DER form. Throws an error whose message continues "it …". */
export async function readRevocationList(
  der: Buffer,
  authorities: readonly X509Certificate[],
): Promise<RevocationList> {
  // It knows the names of thousands of objects: only who has a list loads it.
  const { ASN1 } = await import("@lapo/asn1js");
  let list: ASN1;
  try {
    list = ASN1.decode(der);
  } catch {
    throw new Error("holds a CRL that cannot be read");
  }
  const [content, algorithm, signature] = partsOf(list);
  if (content === undefined || algorithm === undefined || signature === undefined || list.posEnd() !== der.length)
    throw new Error("holds a CRL that cannot be read");
  const issuers = signers(
    der.subarray(content.posStart(), content.posEnd()),
    algorithm,
    // The first byte of a bit string says how many bits at its end are not used: none.
    der.subarray(signature.posContent() + 1, signature.posEnd()),
    authorities,
  );
  if (issuers.length === 0)
    throw new Error("holds a CRL that none of client_ca signed: client_ca needs the authority that signed it");
  return { issuers, ...contentOf(content, der) };
}

const hashes: Readonly<Record<string, string | null>> = {
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  // As RSASSA-PSS names them.
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
  // Ed25519 and Ed448 hash by themselves.
  "1.3.101.112": null,
  "1.3.101.113": null,
};

const pss = "1.2.840.113549.1.1.10";

/** RFC 4055, 3.1: the hash is SHA-1, which does not count, where the field [0] is left out. */
function partsOfPss(parameters: ASN1 | undefined): { readonly hash: string; readonly saltLength: number } {
  const fields = parameters === undefined ? [] : partsOf(parameters);
  const field = (number: number) => fields.find(({ tag }) => tag.tagNumber === number)?.sub?.[0];
  const hash = numbersOf(field(0)?.sub?.[0]) || "RSASSA-PSS with SHA-1";
  return { hash, saltLength: Number(field(2)?.content() ?? 20) };
}

function signers(
  signed: Buffer,
  algorithm: ASN1,
  signature: Buffer,
  authorities: readonly X509Certificate[],
): readonly X509Certificate[] {
  const [identifier, parameters] = partsOf(algorithm);
  const name = numbersOf(identifier);
  const ofPss = name === pss ? partsOfPss(parameters) : undefined;
  const hashed = ofPss?.hash ?? name;
  const hash = Object.hasOwn(hashes, hashed) ? hashes[hashed] : undefined;
  if (hash === undefined)
    throw new Error(`holds a CRL whose signature cannot be verified: its algorithm is ${hashed || "unknown"}`);
  const padded = ofPss && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: ofPss.saltLength };
  return authorities.filter(({ publicKey }) => {
    try {
      return verify(hash, signed, padded === undefined ? publicKey : { key: publicKey, ...padded }, signature);
    } catch {
      // A key of another kind.
      return false;
    }
  });
}

function contentOf(content: ASN1, der: Buffer): Omit<RevocationList, "issuers"> {
  const parts = partsOf(content).filter(({ tag }) => tag.tagClass === universal);
  const times = parts.filter(isTime).map(timeOf);
  const [thisUpdate, nextUpdate] = times;
  if (thisUpdate === undefined) throw new Error("holds a CRL that cannot be read");
  const firstTime = parts.findIndex(isTime);
  const entries = parts.slice(firstTime).find(({ tag }) => tag.tagNumber === sequence);
  checkKind(partsOf(content).filter(({ tag }) => tag.tagClass !== universal));
  const serials = new Set<string>();
  for (const entry of entries === undefined ? [] : partsOf(entries)) {
    const [serial] = partsOf(entry);
    if (serial === undefined) throw new Error("holds a CRL that cannot be read");
    const hex = der.toString("hex", serial.posContent(), serial.posEnd());
    serials.add(hex.replace(/^(?:00)+(?=.)/, "").toUpperCase());
  }
  return { serials, thisUpdate, nextUpdate };
}

/** Throws for a list that says less, or more, than which certificates of its signer are revoked. */
function checkKind(extensions: readonly ASN1[]): void {
  for (const extension of extensions.flatMap(partsOf).flatMap(partsOf)) {
    const parts = partsOf(extension);
    const name = numbersOf(parts[0]);
    if (name === "2.5.29.27") throw new Error("holds a delta CRL: a whole one is needed");
    // The issuing distribution point; its fifth field says that the list is also about others' certificates.
    const fields = name === "2.5.29.28" ? parts.flatMap(partsOf).flatMap(partsOf) : [];
    if (fields.some(({ tag }) => tag.tagNumber === 4))
      throw new Error("holds an indirect CRL: one of each authority is needed");
  }
}

const universal = 0;
const sequence = 0x10;

const partsOf = ({ sub }: ASN1): readonly ASN1[] => sub ?? [];
const isTime = ({ tag }: ASN1): boolean => tag.tagNumber === 0x17 || tag.tagNumber === 0x18;

function timeOf(time: ASN1): Date {
  const date = new Date(time.content() ?? "");
  if (Number.isNaN(date.getTime())) throw new Error("holds a CRL that cannot be read");
  return date;
}

/** The numbers of an object identifier, such as `2.5.29.28`. */
const numbersOf = (identifier: ASN1 | undefined): string => identifier?.content()?.split("\n")[0] ?? "";
