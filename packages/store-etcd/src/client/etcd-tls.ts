import { createSecureContext } from "node:tls";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { type Finding, XdskitError } from "@xdskit/api";

/** PEM texts. */
export interface EtcdTls {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** Credentials for connections; undefined: plaintext. */
export function channelCredentials(tls: EtcdTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const { ca, certificate, key } = tls;
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(pem(ca), pem(key), pem(certificate));
}

/** The options of a renewal. */
export interface TlsRenewalOptions {
  /** The texts of the connections that there are. */
  readonly first: EtcdTls;
  /** Reads them as they are now. */
  readonly read: () => Promise<EtcdTls>;
  /** Uses other ones from now on; false: etcd does not take them, and takes those that it had. */
  readonly use: (tls: EtcdTls) => Promise<boolean>;
  /** Hears once why other ones are not used; undefined: the problem is over. */
  readonly problem: (finding: Finding | undefined) => void;
}

/** Certificates are read again this often, in milliseconds: files are replaced. */
const renewMs = 5_000;

/** Takes over certificates that are replaced. Where the new ones are wrong, the last good ones stay in use. */
export class TlsRenewal {
  readonly #options: TlsRenewalOptions;
  readonly #timer: NodeJS.Timeout;
  #used: EtcdTls;
  #problem = "";
  #failures = 0;
  #isLooking = false;

  constructor(options: TlsRenewalOptions) {
    this.#options = options;
    this.#used = options.first;
    this.#timer = setInterval(() => void this.#look(), renewMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#renew();
      this.#failures = 0;
      this.#say("");
    } catch (error) {
      this.#failures += 1;
      // Mostly one file is replaced after the other.
      if (this.#failures === 1) return;
      const [finding] = error instanceof XdskitError ? error.findings : [];
      const where = finding?.file === undefined ? "" : `${finding.file}: `;
      this.#say(`${where}${finding?.message ?? (error as Error).message}`);
    } finally {
      this.#isLooking = false;
    }
  }

  async #renew(): Promise<void> {
    const { read, use } = this.#options;
    const now = await read();
    if (isSame(now, this.#used)) return;
    createSecureContext({ ca: now.ca, cert: now.certificate, key: now.key });
    if (!(await use(now))) throw new Error("etcd does not accept them");
    this.#used = now;
  }

  #say(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const message = `new certificates for etcd are not used, and the ones before stay in use: ${problem}`;
    this.#options.problem(problem === "" ? undefined : { code: "XDSKIT_STORE", severity: "warning", message });
  }
}

function isSame(one: EtcdTls, other: EtcdTls): boolean {
  return one.ca === other.ca && one.certificate === other.certificate && one.key === other.key;
}
