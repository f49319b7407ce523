import type { CertificatesListener, Validity } from "@xdskit/server";
import type { Log } from "./log.js";
import { logFinding } from "./log-finding.js";

const words: Record<Validity["state"], string> = {
  expired: "the server's certificate has expired: clients that check it do not connect",
  "not-yet-valid": "the server's certificate is not valid yet: clients that check it do not connect",
  "list-expired":
    "the list of revoked certificates (CRL) has expired: it still counts, but newer revocations are not known",
  "expires-soon": "the server's certificate expires soon: put a new one in its place, which needs no restart",
};

/** Logs what becomes of certificates. `all`: for findings, with their places. */
export function logCertificates(log: Log, all: Log = log): CertificatesListener {
  return {
    renewed: (_, notAfter) =>
      log.info(
        "certificates-renewed",
        { until: notAfter.toISOString() },
        "certificates renewed: new connections get these",
      ),
    refused(findings) {
      for (const finding of findings) logFinding(all, finding);
      log.error("certificates-refused", {}, "certificates cannot be renewed: those that were good before stay in use");
    },
    fixed: () =>
      log.info("certificates-mended", {}, "the files of certificates are right again: they hold those in use"),
    untimely: (validity) => logValidity(log, validity),
  };
}

/** Logs that clients do not trust a certificate because of its dates, or soon will not. */
function logValidity(log: Log, { state, file, notBefore, notAfter }: Validity): void {
  log.warn(
    "certificate-untimely",
    { file, from: notBefore.toISOString(), until: notAfter.toISOString() },
    words[state],
  );
}
