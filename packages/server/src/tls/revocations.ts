import { X509Certificate } from "node:crypto";
import { XdskitError } from "@xdskit/api";
import { readCredentials, type TlsFiles } from "@xdskit/api/tls-files";
import type { IsRevoked } from "@xdskit/grpc-server";
import { type RevocationList, readRevocationList } from "./revocation-list.js";
import type { Revocations, TlsSource } from "./tls-source.js";
import type { CertificateDates } from "./validity.js";

/** A longer file is not read: one of this size names some 25,000 certificates, and takes 0.1 s to read. */
const maxBytes = 1024 * 1024;

/**
 * The same certificates, with the lists of revoked ones in a file, which is read again as the others are. Lists that
 * cannot be used now leave those in use that were good before.
 */
export function withRevocations(source: TlsSource, file: string): TlsSource {
  let last: (TlsFiles & { readonly revocations: Revocations }) | undefined;
  let problem: XdskitError | undefined;
  /** What was read, and what came of it: a wrong file is not read in whole each time. */
  let tried:
    | { readonly pem: Buffer; readonly ca: Buffer | undefined; readonly outcome: Promise<Revocations> }
    | undefined;

  async function readNow(ca: Buffer | undefined): Promise<Revocations> {
    const pem = await readCredentials(file);
    if (tried === undefined || !tried.pem.equals(pem) || tried.ca !== ca)
      tried = { pem, ca, outcome: readRevocations(pem, ca, file) };
    return tried.outcome;
  }

  return {
    place: source.place,
    async read() {
      const files = await source.read();
      let revocations = last?.revocations;
      try {
        revocations = await readNow(files.ca);
        problem = undefined;
      } catch (error) {
        if (!(error instanceof XdskitError) || revocations === undefined) throw error;
        problem = error;
      }
      const isNew = last?.context !== files.context || last.revocations !== revocations;
      if (isNew || last === undefined) last = { ...files, revocations };
      return last;
    },
    get problem() {
      return source.problem ?? problem;
    },
    close: () => source.close(),
  };
}

/** Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE) that names the file. */
async function readRevocations(pem: Buffer, ca: Buffer | undefined, file: string): Promise<Revocations> {
  const fail = (why: string) => XdskitError.of("XDSKIT_CREDENTIALS_FILE", why, { file });
  if (pem.length > maxBytes) throw fail(`has more than ${maxBytes} bytes`);
  const authorities = blocksOf("CERTIFICATE", ca ?? Buffer.alloc(0)).map((der) => new X509Certificate(der));
  const blocks = blocksOf("X509 CRL", pem);
  if (blocks.length === 0) throw fail("holds no CRL in PEM form (-----BEGIN X509 CRL-----)");
  const lists: RevocationList[] = [];
  for (const der of blocks)
    lists.push(
      await readRevocationList(der, authorities).catch(({ message }: Error) => {
        throw fail(message);
      }),
    );
  return { isRevoked: revokedBy(lists), dates: firstToEnd(lists, file) };
}

function revokedBy(lists: readonly RevocationList[]): IsRevoked {
  const isListed = (serial: string) => lists.some(({ serials }) => serials.has(serial));
  return (serials, chain) =>
    serials.some(isListed) &&
    chain().some((certificate) =>
      lists.some(
        ({ issuers, serials }) =>
          serials.has(certificate.serialNumber) && issuers.some((issuer) => certificate.checkIssued(issuer)),
      ),
    );
}

function firstToEnd(lists: readonly RevocationList[], file: string): CertificateDates | undefined {
  const dates = lists.flatMap(({ thisUpdate: notBefore, nextUpdate: notAfter }) =>
    notAfter === undefined ? [] : { file, notBefore, notAfter },
  );
  return dates.sort((one, other) => one.notAfter.getTime() - other.notAfter.getTime())[0];
}

function blocksOf(kind: "CERTIFICATE" | "X509 CRL", pem: Buffer): readonly Buffer[] {
  const block = new RegExp(`-----BEGIN ${kind}-----([A-Za-z0-9+/=\\s]+)-----END ${kind}-----`, "g");
  return Array.from(pem.toString("latin1").matchAll(block), ([, base64 = ""]) => Buffer.from(base64, "base64"));
}
