import type { TlsFiles, TlsReader } from "@xdskit/api/tls-files";
import type { IsRevoked } from "@xdskit/grpc-server";
import type { CertificateDates } from "./validity.js";

/** Which certificates of clients are revoked. */
export interface Revocations {
  readonly isRevoked: IsRevoked;
  /** Of the list that ends first; undefined: none ends. */
  readonly dates: CertificateDates | undefined;
}

/** Certificates from elsewhere than files. The newest good ones are asked for every two seconds. */
export interface TlsSource extends TlsReader {
  /** Where they are from, for messages. */
  readonly place: string;
  read(): Promise<TlsFiles & { readonly revocations?: Revocations | undefined }>;
  /** Ends it. What was read stays. */
  close(): void;
}
