/** Where secrets come from, and their names. */
export interface SdsSettings {
  /** The Unix socket of an agent that speaks SDS, such as SPIRE's. */
  readonly sds: string;
  readonly sds_certificate?: string | undefined;
  readonly sds_bundle?: string | undefined;
}

/** The names of the secrets; by default those of SPIRE for the workload that asks, and for its trust domain. */
export const secretNames = ({
  sds_certificate: certificate = "default",
  sds_bundle: bundle = "ROOTCA",
}: SdsSettings) => ({
  certificate,
  bundle,
});

/** A secret, for messages. */
export const secretPlace = ({ sds }: SdsSettings, name: string): string => `${sds}: secret ${name}`;
