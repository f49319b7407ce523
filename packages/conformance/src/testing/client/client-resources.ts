import { fromBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { ReceivedResponse, ResponseResource } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";

/** What the reference client has of one type. */
export interface AskedType {
  names: readonly string[];
  /** The version of what it accepted last. */
  accepted: string;
  nonce: string;
  status: "requested" | "acked" | "nacked" | "missing";
  /** It rejected something, and listens no more. */
  isDeaf: boolean;
}

export const [cluster, route, endpoint] = ["cluster", "route", "endpoint"].map(typeUrlOf) as [string, string, string];

/** The messages of resources; undefined if one of those that are read cannot be read. */
export function messagesOf({ type, resources }: ReceivedResponse, readAll: boolean): readonly object[] | undefined {
  const schema = resourceTypes.byTypeUrl(type)?.type.schema;
  if (schema === undefined) return undefined;
  try {
    return (readAll ? resources : resources.slice(0, 1)).map(({ body }: ResponseResource) => fromBinary(schema, body));
  } catch {
    return undefined;
  }
}

/** The clusters that route configurations lead to. */
export function clustersOf(configurations: readonly object[]): readonly string[] {
  const hosts = configurations.flatMap((one) => (one as RouteConfiguration).virtualHosts);
  return hosts.flatMap(({ routes }) =>
    routes.flatMap(({ action }) =>
      action.case === "route" && action.value.clusterSpecifier.case === "cluster"
        ? [action.value.clusterSpecifier.value]
        : [],
    ),
  );
}
