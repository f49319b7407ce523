import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createResource, type Resource, type Steps, validateMessage } from "@xdskit/api";
import { type Secret, SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import type { ObjectFault } from "../objects/object-fault.js";
import type { TlsSecret } from "../objects/tls-secret.js";
import { MadeResources, type OpenChange, type TableChange } from "./made-resources.js";
import { ObjectFaults } from "./object-faults.js";

/** The Secrets of certificates that there are, and the secrets (SDS) that were made of them. */
export class SecretTable {
  readonly #secrets = new Map<string, TlsSecret>();
  readonly made = new MadeResources();
  readonly faults = new ObjectFaults();
  #due = new Set<string>();

  /** Something changed since it was taken last. */
  get isDue(): boolean {
    return this.#due.size > 0;
  }

  /** Undefined: it is gone. */
  setSecret(key: string, secret: TlsSecret | undefined): void {
    if (secret === undefined) this.#secrets.delete(key);
    else this.#secrets.set(key, secret);
    this.#due.add(key);
  }

  /** Makes what is due. A certificate that no client would take changes nothing. */
  *take(): Steps<TableChange> {
    const change: OpenChange = { upsert: [], remove: [] };
    const all = this.#due;
    this.#due = new Set();
    for (const key of all) {
      const secret = this.#secrets.get(key);
      const { resources, faults } = secret === undefined ? nothing : madeOf(secret);
      this.faults.set(key, faults);
      if (faults.length === 0) this.made.replace(key, resources, change);
      yield;
    }
    return change;
  }
}

interface MadeOfSecret {
  readonly resources: readonly Resource[];
  readonly faults: readonly ObjectFault[];
}

const nothing: MadeOfSecret = { resources: [], faults: [] };

function madeOf(secret: TlsSecret): MadeOfSecret {
  const { namespace, name, uid } = secret;
  const object = { apiVersion: "v1", kind: "Secret", namespace, name, uid };
  try {
    const messages = secretsOf(secret);
    const faults = messages.flatMap(problemsOf).map((problem) => ({ object, reason: "NotServed", ...problem }));
    return { resources: faults.length > 0 ? [] : messages.map((message) => createResource(message)), faults };
  } catch (error) {
    return { resources: [], faults: [{ object, reason: "NotServed", field: "", message: (error as Error).message }] };
  }
}

/** `NAMESPACE/NAME`, and `NAMESPACE/NAME/ca` for who issued it. */
function secretsOf({ namespace, name, certificate, key, authorities }: TlsSecret): readonly Secret[] {
  const own = create(SecretSchema, {
    name: `${namespace}/${name}`,
    type: {
      case: "tlsCertificate",
      value: { certificateChain: inline(certificate), privateKey: inline(key) },
    },
  });
  if (authorities === undefined) return [own];
  const type = { case: "validationContext", value: { trustedCa: inline(authorities) } } as const;
  return [own, create(SecretSchema, { name: `${namespace}/${name}/ca`, type })];
}

type DataSource = NonNullable<
  Extract<NonNullable<MessageInitShape<typeof SecretSchema>["type"]>, { case: "validationContext" }>["value"]
>["trustedCa"];

function inline(base64: string): DataSource {
  return { specifier: { case: "inlineBytes", value: Buffer.from(base64, "base64") } };
}

/** What Envoy would refuse. It says nothing of a key's content. */
function problemsOf(message: Secret): readonly Pick<ObjectFault, "field" | "message">[] {
  return validateMessage(message, { envoy: true }).map(({ field = "", message: text }) => {
    return { field: keys.find(([part]) => field.includes(part))?.[1] ?? "", message: text };
  });
}

/** The keys of a Secret, by the fields that are made of them. */
const keys = [
  ["private_key", "tls.key"],
  ["certificate_chain", "tls.crt"],
  ["trusted_ca", "ca.crt"],
] as const;
