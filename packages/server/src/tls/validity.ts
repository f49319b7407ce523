import { X509Certificate } from "node:crypto";

/** From when to when a certificate is valid. */
export interface CertificateDates {
  /** Where it is. */
  readonly file: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * A certificate that clients do not trust because of its dates, or soon will not; or a list of revoked certificates
 * that has expired.
 */
export interface Validity extends CertificateDates {
  readonly state: "expired" | "not-yet-valid" | "expires-soon" | "list-expired";
}

/** A certificate with less time left than this expires soon: a day, in milliseconds. */
const soonMs = 24 * 60 * 60 * 1000;

/** The same as a part of its whole time: a certificate for an hour is not renewed a day before its end. */
const soonPart = 1 / 5;

/** The dates of the first certificate in a PEM text. Throws where there is none. */
export function datesOf(certificate: string | Buffer, file: string): CertificateDates {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return { file, notBefore: new Date(validFrom), notAfter: new Date(validTo) };
}

/** The finding about a certificate at a time in milliseconds since 1970; undefined: none. */
export function validityOf(dates: CertificateDates, now: number): Validity | undefined {
  const { notBefore, notAfter } = dates;
  const left = notAfter.getTime() - now;
  const soon = Math.min(soonMs, soonPart * (notAfter.getTime() - notBefore.getTime()));
  if (left < 0) return { state: "expired", ...dates };
  if (notBefore.getTime() > now) return { state: "not-yet-valid", ...dates };
  return left < soon ? { state: "expires-soon", ...dates } : undefined;
}

/** The finding about a list of revoked certificates; undefined: none. */
export function expiredList(dates: CertificateDates | undefined, now: number): Validity | undefined {
  return dates !== undefined && dates.notAfter.getTime() < now ? { state: "list-expired", ...dates } : undefined;
}
