import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import { type ClientConfig, ConfigStatus } from "@xdskit/api/envoy/service/status/v3/csds";
import type { ServerPeer } from "../../peer/peer.js";
import { hold, needed, Skipped } from "../../verdicts/verdicts.js";
import { fetchingStatus, streamingStatus } from "../../wire/client-status.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";

/** The statuses of a type, from whichever of the two lists has them; `UNKNOWN` is none. */
function statusesOf({ genericXdsConfigs, xdsConfig }: ClientConfig, type: string): readonly ConfigStatus[] {
  const generic = genericXdsConfigs.filter(({ typeUrl }) => typeUrl === type).map((one) => one.configStatus);
  const isOfType = { Cluster: "clusterConfig", Listener: "listenerConfig" }[type.slice(type.lastIndexOf(".") + 1)];
  const older = xdsConfig.filter(({ perXdsConfig }) => perXdsConfig.case === isOfType).map(({ status }) => status);
  return [...generic, ...older].filter((status) => status !== ConfigStatus.UNKNOWN);
}

const byId = (value: string) => ({ nodeId: { matchPattern: { case: "exact" as const, value } } });

/** What the server says of a node, by its id. */
async function statusOf(
  peer: ServerPeer,
  id: string,
  excludeResourceContents = false,
): Promise<readonly ClientConfig[]> {
  const call = peer.call(fetchingStatus);
  call.send({ node: peer.node, nodeMatchers: [byId(id)], excludeResourceContents });
  call.finish();
  return (await call.next()).config;
}

let nodes = 0;

interface KnownStatus {
  readonly type: string;
  readonly node: Node;
  readonly stream: XdsStream;
}

/**
 * A node of its own that has a stream and a type's resources, accepted or rejected. Throws Skipped if the server does
 * not know such a node, or says nothing of it.
 */
async function known(peer: ServerPeer, answer: "ack" | "nack" = "ack"): Promise<KnownStatus> {
  // A server without the service is not asked for more.
  await statusOf(peer, "nobody");
  const { type } = peer.content.wildcard(1);
  const node = { ...peer.node, id: `${peer.node.id}-${++nodes}` };
  const stream = openedBy(peer, node);
  stream.ask(type);
  const responses = await needed(() => stream.answer(type), `the server sends nothing to another node, ${node.id}`);
  for (const response of responses) stream[answer](response);
  await peer.quiet();
  return { type, node, stream };
}

function openedBy(peer: ServerPeer, node: Node): XdsStream {
  return peer.open(peer.offers("sotw") ? "sotw" : "delta", node);
}

async function configOf(
  peer: ServerPeer,
  { node }: KnownStatus,
  excludeResourceContents = false,
): Promise<ClientConfig> {
  const [config] = await statusOf(peer, node.id, excludeResourceContents);
  if (config === undefined) throw new Skipped("the server says nothing of a node that has a stream");
  return config;
}

async function holdStatus(peer: ServerPeer, answer: "ack" | "nack", due: ConfigStatus): Promise<void> {
  const client = await known(peer, answer);
  const statuses = statusesOf(await configOf(peer, client), client.type);
  if (statuses.length === 0) throw new Skipped("the server says no status of the type");
  const isDue = answer === "ack" ? statuses.every((one) => one === due) : statuses.includes(due);
  hold(isDue, `the status is ${[...new Set(statuses.map((one) => ConfigStatus[one]))].join(", ")}`);
}

/** The status of clients (CSDS). */
export const clientStatusChecks: readonly CheckBody[] = [
  {
    id: "csds-node",
    says: "A client with a stream is among those of which the status is told.",
    because:
      "CSDS can be used to get the status of an xDS-compliant client from the management server's point of view.",
    link: documents.status,
    level: "SHOULD",
    async run(peer) {
      const { node } = await known(peer);
      const found = await statusOf(peer, node.id);
      hold(
        found.some((one) => one.node?.id === node.id),
        "the server says nothing of it",
      );
    },
  },
  {
    id: "csds-matchers",
    says: "Only clients that the request's matchers match are told.",
    because: "Management server can use these match criteria to identify clients.",
    link: documents.status,
    level: "SHOULD",
    async run(peer) {
      const { node } = await known(peer);
      await known(peer);
      const others = (await statusOf(peer, node.id)).filter((one) => one.node?.id !== node.id);
      hold(others.length === 0, `the server also says something of ${JSON.stringify(others[0]?.node?.id)}`);
    },
  },
  {
    id: "csds-synced",
    says: "What a client has accepted is SYNCED.",
    because: "SYNCED: management server has sent the config to client and received ACK.",
    link: documents.status,
    run: (peer) => holdStatus(peer, "ack", ConfigStatus.SYNCED),
  },
  {
    id: "csds-error",
    says: "What a client has rejected is an ERROR.",
    because: "ERROR: management server has sent the config to client but received NACK.",
    link: documents.status,
    run: (peer) => holdStatus(peer, "nack", ConfigStatus.ERROR),
  },
  {
    id: "csds-without-contents",
    says: "A request that excludes the resources' contents is answered without them.",
    because: "exclude_resource_contents: if true, the server will not include the resource contents in the response.",
    link: documents.status,
    async run(peer) {
      const { genericXdsConfigs } = await configOf(peer, await known(peer), true);
      hold(
        genericXdsConfigs.every((one) => one.xdsConfig === undefined),
        "there are contents",
      );
    },
  },
  {
    id: "csds-stream",
    says: "On a stream of status requests each one is answered.",
    because: "StreamClientStatus takes a stream of requests.",
    link: documents.status,
    async run(peer) {
      const call = peer.call(streamingStatus);
      for (let count = 0; count < 2; count++) {
        call.send({ ...(count === 0 ? { node: peer.node } : {}), nodeMatchers: [byId(peer.node.id)] });
        await call.next();
      }
    },
  },
];
