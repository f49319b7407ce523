import type { TlsOptions } from "../settings/options/tls-options.js";

/** The admin listener of a server, and what shows it who asks. */
export interface ApiServer extends Pick<TlsOptions, "tlsCa" | "tlsCert" | "tlsKey" | "tokenFile"> {
  readonly url: URL;
}
