import { X509Certificate } from "node:crypto";

/** A certificate that clients do not trust because of its dates, or soon will not. */
export interface Validity {
  readonly state: "expired" | "not-yet-valid" | "expires-soon";
  readonly file: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A certificate with less time left than this expires soon: a day, in milliseconds. */
const soonMs = 24 * 60 * 60 * 1000;

/** The same as a part of its whole time: a certificate for an hour is not renewed a day before its end. */
const soonPart = 1 / 5;

/** The finding about the first certificate in a PEM text, at a time in milliseconds since 1970; undefined: none. */
export function validityOf(certificate: string | Buffer, file: string, now: number): Validity | undefined {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [notBefore, notAfter] = [new Date(validFrom), new Date(validTo)];
  const left = notAfter.getTime() - now;
  const soon = Math.min(soonMs, soonPart * (notAfter.getTime() - notBefore.getTime()));
  const validity = { file, notBefore, notAfter };
  if (left < 0) return { state: "expired", ...validity };
  if (notBefore.getTime() > now) return { state: "not-yet-valid", ...validity };
  return left < soon ? { state: "expires-soon", ...validity } : undefined;
}
