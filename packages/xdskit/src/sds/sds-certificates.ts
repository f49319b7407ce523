import { firstWithin, XdskitError } from "@xdskit/api";
import { type Secret, SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { checkedTls, type TlsFiles } from "@xdskit/api/tls-files";
import { createClient } from "@xdskit/client";
import type { TlsSource } from "@xdskit/server";
import { type SdsSettings, secretNames, secretPlace } from "./sds-settings.js";
import { authoritiesIn, certificateIn } from "./secret-contents.js";

/** So long the first certificates may take. */
const firstMs = 30_000;

/** What has come so far. */
interface Parts {
  pair?: ReturnType<typeof certificateIn>;
  ca?: Buffer;
}

/**
 * The server's certificates as an agent hands them out. Asks at once, and follows them until it is closed. While the
 * agent is away, or gives what cannot be used, the last good ones stay in use.
 */
export function sdsCertificates(settings: SdsSettings, waitMs = firstMs): TlsSource {
  const { sds } = settings;
  const { certificate, bundle } = secretNames(settings);
  const placeOf = (name: string) => secretPlace(settings, name);
  const parts: Parts = {};
  const address = sds.replace(/^unix:\/\/\//, "unix:/");
  // SPIRE has no incremental variant, and no aggregated service.
  const servers = [{ kind: "grpc", address, variant: "sotw", aggregated: false } as const];
  const client = createClient({ servers, node: { id: "xdskit" } });
  let last: TlsFiles | undefined;
  /** Why the newest of a secret is not used, by its name. */
  const invalid = new Map<string, XdskitError>();
  let away: XdskitError | undefined;
  let began: (() => void) | undefined;
  const first = new Promise<void>((resolve) => {
    began = resolve;
  });

  function take({ pair, ca }: Parts): void {
    if (pair === undefined || ca === undefined) return;
    const [own, trusted] = [placeOf(certificate), placeOf(bundle)];
    last = checkedTls({ ...pair, ca }, { certificateFile: own, keyFile: own, caFile: trusted }, last);
    began?.();
  }

  function follow(name: string, read: (secret: Secret) => Parts): void {
    client.watch(SecretSchema, name, {
      onChanged({ message }) {
        away = undefined;
        try {
          const next = { ...parts, ...read(message) };
          take(next);
          Object.assign(parts, next);
          invalid.delete(name);
        } catch (error) {
          if (!(error instanceof XdskitError)) throw error;
          // What was good before stays: the other secret may be renewed meanwhile.
          invalid.set(name, error);
        }
      },
      onError: (error) => {
        away = error;
      },
      onAmbient: (error) => {
        away = error;
      },
    });
  }

  const problem = () => {
    if (client.isConnected && parts.pair !== undefined && parts.ca !== undefined) away = undefined;
    const [first] = invalid.values();
    return first ?? away;
  };

  follow(certificate, (secret) => ({ pair: certificateIn(secret, placeOf(certificate)) }));
  follow(bundle, (secret) => ({ ca: authoritiesIn(secret, placeOf(bundle)) }));
  return {
    place: placeOf(certificate),
    async read() {
      if (last === undefined) await firstWithin(waitMs, [first]);
      if (last !== undefined) return last;
      const cause = problem();
      const why = `nothing usable came within ${waitMs / 1_000} s${cause === undefined ? "" : `: ${cause.message}`}`;
      throw XdskitError.of("XDSKIT_CREDENTIALS_FILE", why, { file: sds }, { cause });
    },
    get problem() {
      return problem();
    },
    close() {
      void client.close();
    },
  };
}
