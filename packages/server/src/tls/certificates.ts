import type { Clock, Finding } from "@xdskit/api";
import { lookMs } from "@xdskit/api/disk";
import { type ServerTls, type TlsContents, tlsSource } from "./server-tls.js";
import type { TlsSource } from "./tls-source.js";
import { type CertificateDates, datesOf, expiredList, type Validity, validityOf } from "./validity.js";

type CertificateFiles = Awaited<ReturnType<TlsSource["read"]>>;

/** A server's certificates, followed as they change on disk. */
export interface Certificates {
  /**
   * Resolves once there are certificates that fit together. The first call reads them; from then on they are read
   * again every two seconds. Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE) if they cannot be used.
   */
  ready(): Promise<void>;
  /** The current ones; undefined before `ready`. */
  readonly current: TlsContents | undefined;
  /** From when to when the server's own certificate is valid; undefined before `ready`. */
  readonly dates: CertificateDates | undefined;
  close(): void;
}

/** Called when certificates change. */
export interface CertificatesListener {
  /** New ones must be used from now on. Not called for the first. */
  renewed(contents: TlsContents, notAfter: Date): void;
  /** The files cannot be used now, and the last good ones stay in use. Called once for each problem. */
  refused(findings: readonly Finding[]): void;
  /** The files hold the certificates in use again. */
  fixed(): void;
  /**
   * Clients do not trust the server's certificate because of its dates, or soon will not; or the list of revoked ones
   * has expired. Called once for each state of each of them, and again after `renewed`, which may have been about
   * another file.
   */
  untimely(validity: Validity): void;
}

/** Throws an XdskitError (XDSKIT_CREDENTIALS) for a certificate without its key, or for content in place of a path. */
export function createCertificates(settings: ServerTls, clock: Clock, listener: CertificatesListener): Certificates {
  const isOptional = settings.clientCertificates === "optional";
  const reader = tlsSource(settings);
  let files: CertificateFiles | undefined;
  let dates: CertificateDates | undefined;
  let reported: string | undefined;
  /** The last state that was told: of the certificate, and of the list of revoked ones. */
  const reportedTimes: Record<"certificate" | "list", string | undefined> = { certificate: undefined, list: undefined };
  let stop = (): void => {};
  let isFollowed = false;
  let closed = false;

  async function look(): Promise<void> {
    const before = files;
    files = await reader.read();
    if (closed) return;
    if (dates === undefined || files !== before) dates = datesOf(files.certificate ?? "", reader.place);
    if (before !== undefined && files !== before) {
      listener.renewed(contentsOf(files, isOptional), dates.notAfter);
      reportedTimes.certificate = undefined;
      reportedTimes.list = undefined;
    }
    const { problem } = reader;
    if (problem !== undefined && problem.message !== reported) listener.refused(problem.findings);
    if (problem === undefined && reported !== undefined && files === before) listener.fixed();
    reported = problem?.message;
    lookAtTime("certificate", validityOf(dates, Date.now()));
    lookAtTime("list", expiredList(files.revocations?.dates, Date.now()));
  }

  function lookAtTime(of: keyof typeof reportedTimes, validity: Validity | undefined): void {
    const state = validity && `${validity.state} ${validity.notBefore.getTime()} ${validity.notAfter.getTime()}`;
    if (validity !== undefined && state !== reportedTimes[of]) listener.untimely(validity);
    reportedTimes[of] = state;
  }

  function lookLater(): void {
    stop = clock.after(lookMs, () => {
      // It has certificates that work: then it never rejects.
      void look().finally(() => !closed && lookLater());
    });
  }

  return {
    async ready(): Promise<void> {
      if (files === undefined) await look();
      if (isFollowed || closed) return;
      isFollowed = true;
      lookLater();
    },
    get current(): TlsContents | undefined {
      return files && contentsOf(files, isOptional);
    },
    get dates(): CertificateDates | undefined {
      return dates;
    },
    close() {
      closed = true;
      stop();
      reader.close();
    },
  };
}

function contentsOf({ ca, certificate, key, revocations }: CertificateFiles, isOptional: boolean): TlsContents {
  const isMutual = ca !== undefined;
  return {
    cert: String(certificate),
    key: String(key),
    requestCert: isMutual,
    rejectUnauthorized: isMutual && !isOptional,
    isRevoked: revocations?.isRevoked,
    ...(isMutual ? { ca: String(ca) } : {}),
  };
}
