/// <reference types="node" preserve="true" />
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import { XdskitError } from "../errors/errors.js";

export { explainHandshake, identityOf, shakeHands } from "./handshake.js";

/** Paths of certificates in PEM form. */
export interface TlsPaths {
  /** The trusted authorities. */
  readonly caFile?: string | undefined;
  /** The own certificate with its chain, and its key. Both or none. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** The content of these files, checked to match. */
export interface TlsFiles {
  readonly ca: Buffer | undefined;
  readonly certificate: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly context: SecureContext;
}

/** Reads certificates again on request, so that they can be rotated on disk. */
export interface TlsReader {
  /**
   * The newest certificates that match; the same object as long as no file changes. Rejects with an XdskitError
   * (XDSKIT_CREDENTIALS_FILE) only if none were ever read successfully. While a rotation is incomplete, or the new
   * certificate is not valid yet, the previous ones stay in use.
   */
  read(): Promise<TlsFiles>;
  /** The error of the last read. It never contains a file's content. */
  readonly problem: XdskitError | undefined;
}

/**
 * Throws an XdskitError (XDSKIT_CREDENTIALS) if a certificate has no key, or a path holds a file's content. Reads
 * nothing yet.
 */
export function createTlsReader({ caFile, certificateFile, keyFile }: TlsPaths): TlsReader {
  for (const [name, path] of Object.entries({ caFile, certificateFile, keyFile })) {
    if (path === undefined || !isPem(path)) continue;
    // Otherwise the "no such file" error would show a private key.
    const why = `${name} is the path of a file, and not what stands in it`;
    throw XdskitError.of("XDSKIT_CREDENTIALS", why, { field: `tls.${name}` });
  }
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    const [given, missing] = keyFile === undefined ? ["certificateFile", "keyFile"] : ["keyFile", "certificateFile"];
    throw XdskitError.of("XDSKIT_CREDENTIALS", `${given} is given without ${missing}`, { field: `tls.${missing}` });
  }
  let last: TlsFiles | undefined;
  let problem: XdskitError | undefined;

  async function readNow(): Promise<TlsFiles> {
    const [ca, certificate, key] = await Promise.all([caFile, certificateFile, keyFile].map(readIfNamed));
    return checkedTls({ ca, certificate, key }, { caFile, certificateFile, keyFile }, last);
  }

  return {
    async read() {
      try {
        last = await readNow();
        problem = undefined;
      } catch (error) {
        if (!(error instanceof XdskitError)) throw error;
        problem = error;
        if (last === undefined) throw error;
      }
      return last;
    },
    get problem() {
      return problem;
    },
  };
}

/**
 * These contents, checked; `last` if they are the same. Throws an XdskitError (XDSKIT_CREDENTIALS_FILE), without any
 * content, that names where they are from.
 */
export function checkedTls(
  { ca, certificate, key }: Omit<TlsFiles, "context">,
  { caFile, certificateFile, keyFile }: TlsPaths,
  last: TlsFiles | undefined,
): TlsFiles {
  if (last !== undefined && same(last.ca, ca) && same(last.certificate, certificate) && same(last.key, key))
    return last;
  if (ca !== undefined) checkAuthorities(ca, caFile);
  if (certificate !== undefined)
    contextOf({ cert: certificate }, "holds no certificate that can be read", certificateFile);
  if (key !== undefined) contextOf({ key }, "holds no private key that can be read without a password", keyFile);
  const both = certificateFile === keyFile ? certificateFile : `${certificateFile}, ${keyFile}`;
  const context = contextOf({ ca, cert: certificate, key }, "the certificate and the key do not fit together", both);
  checkTime(certificate, last?.certificate, certificateFile);
  return { ca, certificate, key, context };
}

/** Whether a text is the content of a certificate or key file instead of a path. */
export function isPem(text: string | Buffer): boolean {
  return text.includes("-----BEGIN ");
}

/** Reads a credentials file. Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE) that names the file. */
export async function readCredentials(file: string): Promise<Buffer> {
  const fail = (why: string, cause?: unknown) => XdskitError.of("XDSKIT_CREDENTIALS_FILE", why, { file }, { cause });
  const content = await readFile(file).catch((error: unknown) => {
    throw fail(`cannot be read: ${reasonOf(error)}`, error);
  });
  if (content.length === 0) throw fail("is empty");
  return content;
}

const readIfNamed = async (file: string | undefined) => (file === undefined ? undefined : readCredentials(file));

const same = (one: Buffer | undefined, other: Buffer | undefined) =>
  one === other || (one !== undefined && other !== undefined && one.equals(other));

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const reasons: Partial<Record<string, string>> = {
    ENOENT: "it does not exist",
    EACCES: "permission denied",
    EISDIR: "it is a folder",
  };
  return reasons[code ?? ""] ?? String(code ?? "it failed");
}

function contextOf(
  options: { readonly ca?: Buffer | undefined; readonly cert?: Buffer | undefined; readonly key?: Buffer | undefined },
  problem: string,
  file: string | undefined,
): SecureContext {
  try {
    return createSecureContext(options);
  } catch (error) {
    // OpenSSL's messages name its routines, and no content.
    const { code } = error as NodeJS.ErrnoException;
    throw XdskitError.of("XDSKIT_CREDENTIALS_FILE", `${problem}${code === undefined ? "" : ` (${code})`}`, { file });
  }
}

/** A certificate that nobody trusts now must not replace a trusted one. */
function checkTime(next: Buffer | undefined, current: Buffer | undefined, file: string | undefined): void {
  if (next === undefined || current === undefined || untimely(current) !== undefined) return;
  const problem = untimely(next);
  if (problem !== undefined)
    throw XdskitError.of("XDSKIT_CREDENTIALS_FILE", `${problem}: the certificate in use, which is valid, stays`, {
      file,
    });
}

/** Why the first of these certificates is not valid now; undefined if it is. */
function untimely(certificate: Buffer): string | undefined {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, until] = [new Date(validFrom), new Date(validTo)];
  if (until.getTime() < Date.now()) return `the certificate has expired (${until.toISOString()})`;
  return from.getTime() > Date.now() ? `the certificate is not valid before ${from.toISOString()}` : undefined;
}

/** A context silently accepts a file without certificates, and leaves out what follows one that it cannot read. */
function checkAuthorities(ca: Buffer, file: string | undefined): void {
  const text = ca.toString("latin1");
  const blocks = [
    ...text.matchAll(/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*(?:-----END [A-Z0-9 ]+-----)?/g),
  ];
  const fail = (why: string, line?: number) => XdskitError.of("XDSKIT_CREDENTIALS_FILE", why, { file, line });
  if (blocks.length === 0) throw fail("holds no certificates that can be read as PEM");
  for (const [at, { 0: block, index }] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch {
      throw fail(`certificate ${at + 1} of ${blocks.length} cannot be read`, text.slice(0, index).split("\n").length);
    }
  }
}
