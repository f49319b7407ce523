import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { DataSource } from "@xdskit/api/envoy/config/core/v3/base";
import type { TlsCertificate } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/common";
import { redacted } from "../../../redact/secret-text.js";
import { isSequence, type PemBlock, pemBlocks } from "../../values/pem.js";
import type { SpecialProblem } from "../problem.js";
import { none, refused, within } from "../problem.js";
import { remembered } from "./remembered.js";

/** A data source with its content in the resource. Files and the environment depend on the machine. */
interface Inline {
  /** `inline_string` or `inline_bytes` */
  readonly field: string;
  readonly text: string;
}

/** The labels of certificates. The last one is of OpenSSL's own form, with more behind the certificate. */
const certificateLabels: ReadonlySet<string> = new Set(["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]);
const keyLabels: ReadonlySet<string> = new Set(
  ["", "RSA ", "EC ", "DSA ", "ENCRYPTED "].map((kind) => `${kind}PRIVATE KEY`),
);
/** The elliptic curves of certificates that Envoy takes. */
const curves: ReadonlySet<string> = new Set(["prime256v1", "secp384r1", "secp521r1"]);
/** Bits of an RSA key. */
const leastModulus = 2048;

/** A certificate chain and its private key. Messages say nothing of a key's content. */
export function pemProblems({ certificateChain, privateKey, password }: TlsCertificate): readonly SpecialProblem[] {
  const chain = inlineOf(certificateChain);
  const key = inlineOf(privateKey);
  if (chain === undefined && key === undefined) return none;
  const phrase = inlineOf(password);
  const texts = [chain, key, phrase].flatMap((each) => (each === undefined ? [""] : [each.field, each.text]));
  // A password in a file depends on the machine.
  const isOpen = phrase !== undefined || password?.specifier.case === undefined;
  return remembered([isOpen ? "certificate" : "protected", ...texts], () => {
    const problems: SpecialProblem[] = [];
    const leaf = chain === undefined ? undefined : chainProblems(chain, problems);
    const found = key === undefined ? undefined : keyProblems(key, isOpen ? (phrase?.text ?? "") : undefined, problems);
    if (key !== undefined && leaf !== undefined && found !== undefined && !matches(leaf, found))
      problems.push(refused(["private_key", key.field], "is not the key of certificate_chain's first certificate"));
    return problems;
  });
}

/** A chain and its key as PKCS #12, whose content only Envoy can judge. */
export function bundleProblems(source: DataSource): readonly SpecialProblem[] {
  const bundle = inlineOf(source);
  if (bundle?.text !== "") return none;
  return [refused(["pkcs12", bundle.field], "is empty: it must hold a certificate and its key as PKCS #12")];
}

/** Certificates of authorities. An expired one is no problem while there are others. */
export function trustedProblems(source: DataSource | undefined, allowExpired: boolean): readonly SpecialProblem[] {
  const trusted = inlineOf(source);
  if (trusted === undefined) return none;
  return remembered([allowExpired ? "any time" : "now", trusted.field, trusted.text], () => {
    const problems: SpecialProblem[] = [];
    const certificates = certificatesOf(trusted.text, problems);
    const late = allowExpired ? [] : certificates.map((each) => each && timeProblem(each));
    const [first] = late;
    if (first !== undefined && late.every((each) => each !== undefined)) problems.push(first);
    return within(problems, "trusted_ca", trusted.field);
  });
}

/** Adds the problems of a chain; returns its first certificate, if it could be read. */
function chainProblems({ field, text }: Inline, problems: SpecialProblem[]): X509Certificate | undefined {
  const found: SpecialProblem[] = [];
  const certificates = certificatesOf(text, found);
  const [leaf] = certificates;
  const weak = leaf === undefined ? undefined : keyOfKindProblem(leaf);
  if (weak !== undefined) found.push(refused([], weak));
  found.push(...certificates.flatMap((each) => (each && timeProblem(each)) ?? []));
  problems.push(...within(found, "certificate_chain", field));
  return weak === undefined ? leaf : undefined;
}

/** The certificates of a PEM text; undefined for one that only its TLS library can judge. */
function certificatesOf(text: string, problems: SpecialProblem[]): readonly (X509Certificate | undefined)[] {
  if (text === "") {
    problems.push(refused([], "is empty: it must hold a certificate as PEM"));
    return [];
  }
  const certificates: (X509Certificate | undefined)[] = [];
  for (const block of pemBlocks(text)) {
    if (block !== "broken" && !certificateLabels.has(block.label)) continue;
    const read = block === "broken" ? block : certificateOf(block);
    if (read === "broken") {
      const number = certificates.length + 1;
      const message = `has no certificate in block ${number} that begins with -----BEGIN CERTIFICATE-----`;
      problems.push(refused([], block === "broken" ? brokenBlock : message));
      return certificates;
    }
    certificates.push(read);
  }
  if (certificates.length === 0)
    problems.push(refused([], "holds no certificate as PEM, which begins with a line -----BEGIN CERTIFICATE-----"));
  return certificates;
}

const brokenBlock = "has a PEM block that is cut off or is not base64";

function certificateOf({ label, text, der }: PemBlock): X509Certificate | "broken" | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return label === "TRUSTED CERTIFICATE" || der === undefined ? undefined : "broken";
  }
}

/** The problem of a certificate's kind of key, if any; Envoy takes a few kinds only. */
function keyOfKindProblem(certificate: X509Certificate): string | undefined {
  let key: KeyObject;
  try {
    key = certificate.publicKey;
  } catch {
    return undefined;
  }
  const { modulusLength = leastModulus, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "rsa":
      if (modulusLength >= leastModulus) return undefined;
      return `has an RSA key of ${modulusLength} bits; the least is ${leastModulus}`;
    case "ec":
      if (namedCurve === "" || curves.has(namedCurve)) return undefined;
      return `has a key on the curve ${namedCurve}; only P-256, P-384 and P-521 are supported`;
    case "dsa":
    case "rsa-pss":
      return `has a key of the kind ${key.asymmetricKeyType}, which is not supported`;
    default:
      return undefined;
  }
}

/** A certificate that is not valid now. Envoy takes it, and its peers refuse the connection. */
function timeProblem({ validFrom, validTo }: X509Certificate): SpecialProblem | undefined {
  const now = Date.now();
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  const problem = (message: string): SpecialProblem => {
    return { code: "XDSKIT_CERTIFICATE_TIME", severity: "warning", steps: [], message };
  };
  if (to < now) return problem(`expired at ${new Date(to).toISOString()}`);
  return from > now ? problem(`is not valid before ${new Date(from).toISOString()}`) : undefined;
}

/** Adds the problems of a key; returns it, if it could be read. `phrase`: undefined if nobody knows the password. */
function keyProblems(
  { field, text }: Inline,
  phrase: string | undefined,
  problems: SpecialProblem[],
): KeyObject | undefined {
  const wrong = (message: string): undefined => {
    problems.push(refused(["private_key", field], message));
    return undefined;
  };
  // A key that was left out has a separate finding.
  if (text.includes(redacted)) return undefined;
  if (text === "") return wrong("is empty: it must hold a private key as PEM");
  const block = firstKey(text);
  if (block === undefined) return wrong("holds no private key as PEM");
  if (block === "broken") return wrong(brokenBlock);
  const isEncrypted = block.label === "ENCRYPTED PRIVATE KEY" || block.der === undefined;
  if (isEncrypted && phrase === undefined) return undefined;
  if (isEncrypted && phrase === "") return wrong("is encrypted, and needs a password");
  try {
    return createPrivateKey({ key: block.text, format: "pem", passphrase: phrase });
  } catch (error) {
    if (isEncrypted) return isBadDecrypt(error) ? wrong("cannot be decrypted with its password") : undefined;
    // A block with the form of a key may be one that only other TLS libraries know.
    return isSequence(block.der ?? nothing) ? undefined : wrong("is not a private key");
  }
}

const nothing = new Uint8Array();

/** One wrong password in 256 is not told: it gives a right padding by chance, and what looks like an unknown key. */
function isBadDecrypt(error: unknown): boolean {
  return String((error as { readonly code?: unknown }).code).includes("BAD_DECRYPT");
}

function firstKey(text: string): PemBlock | "broken" | undefined {
  for (const block of pemBlocks(text)) if (block === "broken" || keyLabels.has(block.label)) return block;
  return undefined;
}

function matches(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    return true;
  }
}

function inlineOf(source: DataSource | undefined): Inline | undefined {
  const specifier = source?.specifier;
  if (specifier?.case === "inlineString") return { field: "inline_string", text: specifier.value };
  if (specifier?.case === "inlineBytes")
    return { field: "inline_bytes", text: Buffer.from(specifier.value).toString("latin1") };
  return undefined;
}
