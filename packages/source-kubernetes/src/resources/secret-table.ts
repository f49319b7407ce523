import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createResource, validateMessage } from "@xdskit/api";
import { type Secret, SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import type { ObjectFault } from "../objects/object-fault.js";
import { objectKey } from "../objects/object-shape.js";
import type { TlsSecret } from "../objects/tls-secret.js";
import { type MadeOfObject, ObjectTable } from "./object-table.js";

/** The Secrets of certificates that there are, and the secrets (SDS) that were made of them. */
export class SecretTable extends ObjectTable {
  readonly #secrets = new Map<string, TlsSecret>();

  /** Undefined: it is gone. */
  setSecret(key: string, secret: TlsSecret | undefined): void {
    if (secret === undefined) this.#secrets.delete(key);
    else this.#secrets.set(key, secret);
    this.markDue(key);
  }

  /** A certificate that no client would take changes nothing. */
  protected make(key: string): MadeOfObject {
    const secret = this.#secrets.get(key);
    return secret === undefined ? { resources: [], faults: [] } : madeOf(secret);
  }
}

function madeOf(secret: TlsSecret): MadeOfObject {
  const { namespace, name, uid } = secret;
  const object = { apiVersion: "v1", kind: "Secret", namespace, name, uid };
  try {
    const messages = secretsOf(secret);
    const faults = messages.flatMap(problemsOf).map((problem) => ({ object, reason: "NotServed", ...problem }));
    return { resources: faults.length > 0 ? undefined : messages.map((message) => createResource(message)), faults };
  } catch (error) {
    return {
      resources: undefined,
      faults: [{ object, reason: "NotServed", field: "", message: (error as Error).message }],
    };
  }
}

/** `NAMESPACE/NAME`, and `NAMESPACE/NAME/ca` for who issued it. */
function secretsOf(secret: TlsSecret): readonly Secret[] {
  const { certificate, key, authorities } = secret;
  const name = objectKey(secret);
  const own = create(SecretSchema, {
    name,
    type: {
      case: "tlsCertificate",
      value: { certificateChain: inline(certificate), privateKey: inline(key) },
    },
  });
  if (authorities === undefined) return [own];
  const type = { case: "validationContext", value: { trustedCa: inline(authorities) } } as const;
  return [own, create(SecretSchema, { name: `${name}/ca`, type })];
}

type DataSource = NonNullable<
  Extract<NonNullable<MessageInitShape<typeof SecretSchema>["type"]>, { case: "validationContext" }>["value"]
>["trustedCa"];

function inline(base64: string): DataSource {
  return { specifier: { case: "inlineBytes", value: Buffer.from(base64, "base64") } };
}

/** What Envoy would refuse, in words of the Secret. It says nothing of a key's content. */
function problemsOf(message: Secret): readonly Pick<ObjectFault, "field" | "message">[] {
  return validateMessage(message, { envoy: true }).map(({ field = "", message: text }) => ({
    field: keys.find(([part]) => field.includes(part))?.[1] ?? "",
    message: keys.reduce((words, [part, key]) => words.replaceAll(part, key), text),
  }));
}

/** The keys of a Secret, by the fields that are made of them. */
const keys = [
  ["private_key", "tls.key"],
  ["certificate_chain", "tls.crt"],
  ["trusted_ca", "ca.crt"],
] as const;
