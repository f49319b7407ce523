import { constants, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A certificate and its private key, as PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  /** As `getPeerCertificate().serialNumber` shows it. */
  readonly serial: string;
}

/** A certificate authority of a test's own. */
export interface Authority {
  /** Its own certificate, as PEM, for those who must trust it. */
  readonly certificate: string;
  /**
   * A new key pair and a certificate for it, valid from yesterday until tomorrow, for these (`DNS:localhost`,
   * `IP:127.0.0.1`); by default for the host that the common name is.
   */
  issue(commonName: string, ...names: readonly SubjectName[]): Certificate;
  /** The same, valid between two times, given in days from now. */
  issueFor(commonName: string, days: Days, ...names: readonly SubjectName[]): Certificate;
  /** A certificate for a key of any kind, as PEM. */
  issueKey(commonName: string, pair: { readonly publicKey: KeyObject }): string;
  /** A list of revoked certificates (CRL), as PEM; by default good until tomorrow. */
  revoke(revoked: readonly Pick<Certificate, "serial">[], days?: Days, ...extensions: readonly Buffer[]): string;
}

type Days = readonly [from: number, to: number];

type SubjectName = `${"DNS" | "IP" | "URI"}:${string}`;

/** What signs: ECDSA on P-256 with SHA-256, or RSASSA-PSS with the same (RFC 4055). */
type Kind = "ecdsa" | "rsa-pss";

/** Makes an authority with a new key, of the same kind as those of the certificates that it issues. */
export function createAuthority(name: string, kind: Kind = "ecdsa", days?: Days): Authority {
  const newPair = () => newPairOf[kind]();
  const pair = newPair();
  const own = certify({
    subject: name,
    issuer: name,
    subjectKey: pair.publicKey,
    issuerKey: pair.privateKey,
    isAuthority: true,
    days,
  });
  function issue(subject: string, given: readonly SubjectName[], days?: Days): Certificate {
    const { publicKey, privateKey } = newPair();
    const names = given.length > 0 ? given : ([`DNS:${subject}`] as const);
    const issued = certify({ subject, issuer: name, subjectKey: publicKey, issuerKey: pair.privateKey, names, days });
    return { ...issued, key: String(privateKey.export({ type: "pkcs8", format: "pem" })) };
  }
  return {
    certificate: own.certificate,
    issue: (subject, ...names) => issue(subject, names),
    issueFor: (subject, days, ...names) => issue(subject, names, days),
    revoke: (revoked, days, ...extensions) => revocationList(name, pair.privateKey, revoked, days, extensions),
    issueKey: (subject, { publicKey }) => {
      const names = [`DNS:${subject}`] as const;
      return certify({ subject, issuer: name, subjectKey: publicKey, issuerKey: pair.privateKey, names }).certificate;
    },
  };
}

/** The lines of a PEM text that say something, for a search whether any of them got out. */
export const contentLines = (pem: string): readonly string[] =>
  pem.split("\n").filter((line) => line.length > 10 && !line.startsWith("-----"));

const newPairOf = {
  ecdsa: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  "rsa-pss": () =>
    generateKeyPairSync("rsa-pss", { modulusLength: 2048, hashAlgorithm: "sha256", mgf1HashAlgorithm: "sha256" }),
};

interface ToCertify {
  readonly subject: string;
  readonly issuer: string;
  readonly subjectKey: KeyObject;
  readonly issuerKey: KeyObject;
  readonly isAuthority?: true;
  readonly names?: readonly SubjectName[];
  readonly days?: Days | undefined;
}

/** An X.509 certificate, version 3 (RFC 5280, section 4.1). */
function certify({
  subject,
  issuer,
  subjectKey,
  issuerKey,
  isAuthority,
  names,
  days: [from, to] = [-1, 1],
}: ToCertify): Omit<Certificate, "key"> {
  const serial = randomBytes(8);
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  const algorithm = algorithmOf(issuerKey);
  const extensions = [
    ...(isAuthority ? [sequence(oid("2.5.29.19"), isTrue, octets(sequence(isTrue)))] : []),
    ...(names === undefined ? [] : [sequence(oid("2.5.29.17"), octets(sequence(...names.map(subjectName))))]),
  ];
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    commonName(issuer),
    sequence(time(from), time(to)),
    commonName(subject),
    subjectKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  return {
    certificate: pem(sequence(content, algorithm, signatureOf(content, issuerKey))),
    serial: serial.toString("hex").toUpperCase(),
  };
}

/** A certificate revocation list, version 2 (RFC 5280, section 5.1). */
function revocationList(
  issuer: string,
  issuerKey: KeyObject,
  revoked: readonly Pick<Certificate, "serial">[],
  [from, to]: Days = [-1, 1],
  extensions: readonly Buffer[] = [],
): string {
  const algorithm = algorithmOf(issuerKey);
  const entries = revoked.map(({ serial }) => sequence(der(0x02, Buffer.from(serial, "hex")), time(from)));
  const content = sequence(
    der(0x02, Buffer.from([1])),
    algorithm,
    commonName(issuer),
    time(from),
    time(to),
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
    ...(extensions.length === 0 ? [] : [der(0xa0, sequence(...extensions))]),
  );
  return pem(sequence(content, algorithm, signatureOf(content, issuerKey)), "X509 CRL");
}

const sha256 = () => sequence(oid("2.16.840.1.101.3.4.2.1"), der(0x05, Buffer.alloc(0)));

function algorithmOf({ asymmetricKeyType }: KeyObject): Buffer {
  if (asymmetricKeyType === "ec") return sequence(oid("1.2.840.10045.4.3.2")); // ECDSA with SHA-256
  const mask = sequence(oid("1.2.840.113549.1.1.8"), sha256());
  const salt = der(0xa2, der(0x02, Buffer.from([32])));
  return sequence(oid("1.2.840.113549.1.1.10"), sequence(der(0xa0, sha256()), der(0xa1, mask), salt));
}

/** A bit string. */
function signatureOf(content: Buffer, key: KeyObject): Buffer {
  const ofPss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  const signed = sign("sha256", content, key.asymmetricKeyType === "ec" ? key : { key, ...ofPss });
  return der(0x03, Buffer.concat([Buffer.from([0]), signed]));
}

/** The extension by which a list is only the difference to an earlier one. */
export const deltaExtension = (): Buffer => sequence(oid("2.5.29.27"), isTrue, octets(der(0x02, Buffer.from([1]))));

/** The extension by which a list is also about the certificates of other authorities. */
export const indirectExtension = (): Buffer =>
  sequence(oid("2.5.29.28"), isTrue, octets(sequence(der(0x84, Buffer.from([0xff])))));

/** A GeneralName (RFC 5280, section 4.2.1.6). */
function subjectName(name: SubjectName): Buffer {
  const value = name.slice(name.indexOf(":") + 1);
  if (name.startsWith("IP:")) return der(0x87, Buffer.from(value.split(".").map(Number)));
  return der(name.startsWith("URI:") ? 0x86 : 0x82, Buffer.from(value));
}

/** One element in the distinguished encoding rules of ASN.1. */
function der(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const long = length < 0x80 ? [] : length < 0x100 ? [0x81] : [0x82, length >> 8];
  return Buffer.concat([Buffer.from([tag, ...long, length & 0xff]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, Buffer.concat(parts));
const octets = (content: Uint8Array): Buffer => der(0x04, content);
const isTrue = der(0x01, Buffer.from([0xff]));

const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid("2.5.4.3"), der(0x0c, Buffer.from(name)))));

function time(daysFromNow: number): Buffer {
  const text = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return der(0x17, Buffer.from(`${text.slice(2, 19).replace(/[-:T]/g, "")}Z`));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}

const pem = (bytes: Buffer, kind = "CERTIFICATE"): string =>
  `-----BEGIN ${kind}-----\n${(bytes.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END ${kind}-----\n`;
