import { fromBinary, type Message } from "@bufbuild/protobuf";
import { envoyRegistry, type Registry, type Resource, type Version } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";

/** A resource of a file. */
export type ReceivedFromFile = ReceivedResource;

/** A resource of a file in the form that all upstreams use. Its message is read when it is first needed. */
export function fileResource(resource: Resource, version: Version, registry: Registry | undefined): ReceivedFromFile {
  const { type, name, aliases, ttl, body } = resource;
  let message: Message | undefined;
  return {
    type,
    name,
    version,
    aliases,
    ttl,
    typeUrl: type.typeUrl,
    value: body,
    get message() {
      message ??= messageOf(resource, registry ?? envoyRegistry());
      return message;
    },
    resource: () => resource,
  };
}

function messageOf({ type, body }: Resource, registry: Registry): Message {
  const schema = registry.getMessage(type.typeUrl.slice(type.typeUrl.lastIndexOf("/") + 1)) ?? type.schema;
  // The bytes came from a message of this type.
  if (schema === undefined) throw new Error(`messages of type ${type.typeUrl} are not known`);
  return fromBinary(schema, body);
}
