import type { TlsSource } from "@xdskit/server";
import { type SdsSettings, secretNames, secretPlace } from "./sds-settings.js";

/** Certificates from an agent. The client that asks it is loaded when they are first read. */
export function sdsSource(settings: SdsSettings): TlsSource {
  let loading: Promise<TlsSource> | undefined;
  let source: TlsSource | undefined;
  let isClosed = false;
  const load = async () => {
    const { sdsCertificates } = await import("./sds-certificates.js");
    source = sdsCertificates(settings);
    if (isClosed) source.close();
    return source;
  };
  return {
    place: secretPlace(settings, secretNames(settings).certificate),
    async read() {
      loading ??= load();
      return (await loading).read();
    },
    get problem() {
      return source?.problem;
    },
    close() {
      isClosed = true;
      source?.close();
    },
  };
}
