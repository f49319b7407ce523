import { create, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import {
  canonicalName,
  envoyRegistry,
  type Finding,
  type Registry,
  type ResourceName,
  type TypeUrl,
  type UnreadResource,
} from "@xdskit/api";
import type { CheckMessage } from "@xdskit/protocol";

const wrapperName = "envoy.service.discovery.v3.Resource";
/** A field that no message has: a message with it equals no message that was ever taken. */
const marker = new Uint8Array([0xf8, 0xff, 0xff, 0xff, 0x0f, 1]);

/**
 * Resources of an answer whose JSON could not be read have no bytes that the client could reject. Each is passed on as
 * a message of its name that fails the check. The rest is as for any bad resource: the good ones are taken, the old one
 * stays, and the server hears why.
 */
export interface UnreadResources {
  /** The message that stands for each of them; those of the answer before are forgotten. */
  standIns(unread: readonly UnreadResource[], typeUrl: TypeUrl): (one: UnreadResource) => Any;
  /** The check of the client. */
  readonly check: CheckMessage;
}

export function createUnreadResources(
  check: CheckMessage | undefined,
  registry: Registry = envoyRegistry(),
): UnreadResources {
  const wrapper = registry.getMessage(wrapperName);
  if (wrapper === undefined) throw new Error(`the registry lacks ${wrapperName}`);
  let findings: ReadonlyMap<ResourceName, readonly Finding[]> = new Map();
  return {
    standIns(unread, typeUrl) {
      findings = new Map(unread.map((one) => [canonicalName(one.name ?? ""), one.findings]));
      return ({ name }) => {
        const bare = create(AnySchema, { typeUrl, value: marker });
        // Without a name it is rejected for that.
        if (name === undefined) return bare;
        const wrapped = create(wrapper, { name, resource: bare } as Record<string, unknown>);
        return create(AnySchema, { typeUrl: `type.googleapis.com/${wrapperName}`, value: toBinary(wrapper, wrapped) });
      };
    },
    check: (type, name, message) => findings.get(canonicalName(name)) ?? check?.(type, name, message) ?? [],
  };
}
