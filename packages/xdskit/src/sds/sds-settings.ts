/** Where secrets come from, and their names. */
export interface SdsSettings {
  /** The Unix socket of an agent that speaks SDS, such as SPIRE's. */
  readonly sds: string;
  readonly sds_certificate?: string | undefined;
  readonly sds_bundle?: string | undefined;
}

/** SPIRE's names for the certificate of the workload that asks, and for the authorities of its trust domain. */
export const usualSecretNames = { sds_certificate: "default", sds_bundle: "ROOTCA" };

/** The names of the secrets. */
export const secretNames = ({
  sds_certificate: certificate = usualSecretNames.sds_certificate,
  sds_bundle: bundle = usualSecretNames.sds_bundle,
}: SdsSettings) => ({
  certificate,
  bundle,
});

/** A secret, for messages. */
export const secretPlace = ({ sds }: SdsSettings, name: string): string => `${sds}: secret ${name}`;
