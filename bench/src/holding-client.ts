import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DeltaDiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createClientStream } from "@xdskit/protocol";

/** A client's end that holds this many clusters, without a server: responses are made here, and its answers pulled. */
export function createHolder(resources: number): { take(count: number, marker: number): void } {
  const type = resourceTypes.find("cluster");
  if (type === undefined) throw new Error("no clusters");
  const { typeUrl } = type;
  const client = createClientStream({
    variant: "delta",
    api: "v3",
    types: resourceTypes,
    only: undefined,
    node: new Uint8Array(),
    nodeOn: "first",
    check: () => [],
  });
  const answer = () => {
    let answers = 0;
    while (client.next() !== undefined) answers += 1;
    if (answers !== 1) throw new Error(`${answers} requests`);
  };
  client.step({ kind: "subscribe", type, names: ["*"] }, 0);
  client.step({ kind: "opened" }, 0);
  answer();
  const holder = {
    take(count: number, marker: number) {
      const changed = Array.from({ length: count }, (_, index) => {
        const cluster = create(ClusterSchema, { name: `cluster-${index}`, altStatName: `${marker}` });
        return { name: cluster.name, version: `${marker}`, resource: anyPack(ClusterSchema, cluster) };
      });
      const response = { typeUrl, nonce: `${marker}`, systemVersionInfo: `${marker}`, resources: changed };
      const bytes = toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, response));
      const effects = client.step({ kind: "response", bytes }, marker);
      const update = effects.find(({ kind }) => kind === "update");
      if (update?.kind !== "update" || update.update.upserted.length !== count) throw new Error("it was not taken");
      answer();
    },
  };
  holder.take(resources, 1);
  return holder;
}
