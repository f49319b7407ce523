import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { DataSourceSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { type Secret, SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { checkCall } from "../errors/option-table.js";
import { builderCall } from "./fields.js";

/** Where a client finds PEM: in a file of its own machine, or in the resource itself. */
export type PemSource = { readonly filename: string } | { readonly inlineString: string };

/** The options of a certificate with its key. */
export interface CertificateSecretOptions {
  readonly name: string;
  readonly certificateChain: PemSource;
  readonly privateKey: PemSource;
}

/** The options of authorities to trust. */
export interface TrustedCaSecretOptions {
  readonly name: string;
  readonly trustedCa: PemSource;
}

const pem = { options: { filename: "string", inlineString: "string" } } as const;
const calls = {
  certificate: builderCall({
    call: "certificateSecret",
    example: '{ name: "web", certificateChain: { filename: "web.pem" }, privateKey: { filename: "web.key" } }',
    needs: ["name", "certificateChain", "privateKey"],
    own: { name: "string", certificateChain: pem, privateKey: pem },
  }),
  trustedCa: builderCall({
    call: "trustedCaSecret",
    example: '{ name: "ca", trustedCa: { filename: "ca.pem" } }',
    needs: ["name", "trustedCa"],
    own: { name: "string", trustedCa: pem },
  }),
};

/**
 * Makes the secret of a certificate with its key (SDS). A listener names it: `httpListener({ …, tlsSecret })`.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { certificateSecret } from "@xdskit/api/builders";
 *
 * const pem = (file: string) => ({ inlineString: readFileSync(file, "utf8") });
 * const web = certificateSecret({ name: "web", certificateChain: pem("web.pem"), privateKey: pem("web.key") });
 * ```
 */
export function certificateSecret(options: CertificateSecretOptions): Secret {
  checkCall(calls.certificate, options);
  const { name, certificateChain, privateKey } = options;
  const value = { certificateChain: dataSource(certificateChain), privateKey: dataSource(privateKey) };
  return create(SecretSchema, { name, type: { case: "tlsCertificate", value } });
}

/**
 * Makes the secret of the authorities that a client trusts (SDS).
 *
 * @example
 * ```ts
 * import { trustedCaSecret } from "@xdskit/api/builders";
 *
 * const ca = trustedCaSecret({ name: "ca", trustedCa: { filename: "/etc/envoy/ca.pem" } });
 * ```
 */
export function trustedCaSecret(options: TrustedCaSecretOptions): Secret {
  checkCall(calls.trustedCa, options);
  const { name, trustedCa } = options;
  return create(SecretSchema, {
    name,
    type: { case: "validationContext", value: { trustedCa: dataSource(trustedCa) } },
  });
}

function dataSource(source: PemSource): MessageInitShape<typeof DataSourceSchema> {
  return "filename" in source
    ? { specifier: { case: "filename", value: source.filename } }
    : { specifier: { case: "inlineString", value: source.inlineString } };
}
