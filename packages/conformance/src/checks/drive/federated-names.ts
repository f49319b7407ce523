import { clusterOf, wrapped } from "../../driver/driven-content.js";
import type { ServerPeer } from "../../peer/peer.js";
import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { namesIn, sameNames } from "../observe/differences.js";
import { begin, comesWith, resourceIn } from "./driving.js";

const cluster = typeUrlOf("cluster");
const endpoint = typeUrlOf("locality-endpoint");
const list = typeUrlOf("locality-endpoint-collection");
const authority = "xdstp://xds-conformance.example";
const named = `${authority}/envoy.config.cluster.v3.Cluster/shop/cart?stage=prod&zone=eu`;
const otherOrder = `${authority}/envoy.config.cluster.v3.Cluster/shop/cart?zone=eu&stage=prod`;

async function askedCluster(peer: ServerPeer, variant: ProtocolVariant, name: string): Promise<XdsStream> {
  await begin(peer, { more: { [cluster]: { [named]: clusterOf(named, 1) } } });
  return peer.asking(variant, cluster, [name]);
}

const member = (path: string) => `${authority}/envoy.config.endpoint.v3.LbEndpoint/${path}`;
const glob = member("eu/*");

const endpointAt = (portValue: number): object => ({
  endpoint: { address: { socketAddress: { address: "127.0.0.1", portValue } } },
});

/** Members of a collection, and one of another. */
const members = (...paths: readonly string[]) => ({
  more: {
    [endpoint]: Object.fromEntries(
      [...paths, "us/z"].map((path, index) => {
        const name = member(path);
        return [name, wrapped(endpoint, endpointAt(21_000 + index), { name })];
      }),
    ),
  },
});

async function askedGlob(peer: ServerPeer, ...paths: readonly string[]): Promise<XdsStream> {
  peer.needs("types");
  await begin(peer, members(...paths));
  return peer.asking("delta", endpoint, [glob]);
}

/** Collections that are named by a glob. SotW cannot ask for them. */
export const globChecks: readonly CheckBody[] = [
  {
    id: "delta-glob",
    says: "Who asks for a glob collection of endpoints is sent each of its members, and no other resource.",
    because: "Client requests …/foo/*. Server responds with the resources …/foo/bar and …/foo/baz.",
    link: documents.naming,
    level: "SHOULD",
    async run(peer) {
      const stream = await askedGlob(peer, "eu/x", "eu/y");
      const { resources } = await stream.gather(endpoint, [member("eu/x"), member("eu/y")]);
      sameNames("the collection", resources.keys(), [member("eu/x"), member("eu/y")]);
    },
  },
  {
    id: "delta-glob-added",
    says: "A member that is added to a glob collection is sent, and the others are not sent again.",
    because: "Glob collections will send the single additional resource.",
    link: documents.naming,
    level: "SHOULD",
    async run(peer) {
      const stream = await askedGlob(peer, "eu/x");
      await stream.gather(endpoint, [member("eu/x")]);
      await stream.acceptRest();
      await begin(peer, members("eu/x", "eu/y"));
      const response = await comesWith(stream, endpoint, (one) => resourceIn(one, member("eu/y")) !== undefined);
      sameNames("the response", namesIn([response]), [member("eu/y")]);
    },
  },
  {
    id: "delta-glob-removed",
    says: "A member that goes is told in removed_resources.",
    because: "There is no explicit collection object to inform the client when resources come and go.",
    link: documents.naming,
    level: "SHOULD",
    async run(peer) {
      const stream = await askedGlob(peer, "eu/x", "eu/y");
      await stream.gather(endpoint, [member("eu/x"), member("eu/y")]);
      await begin(peer, members("eu/x"));
      await comesWith(stream, endpoint, ({ removed }) => removed.includes(member("eu/y")));
    },
  },
];

const listName = "pay/eu-1";
const listFeatures = ["xds.endpoint.supports_lb_endpoint_collection", "xds.config.resource-in-sotw"];

/** A list of endpoints for a client that understands it. */
async function askedList(peer: ServerPeer, variant: ProtocolVariant, port: number): Promise<XdsStream> {
  peer.needs("types");
  await setList(peer, port);
  const stream = peer.open(variant, peer.nodeWith(...listFeatures));
  stream.ask(list, [listName]);
  return stream;
}

async function setList(peer: ServerPeer, port: number): Promise<void> {
  const resource = { "@type": endpoint, ...endpointAt(port) };
  const entries = [{ inlineEntry: { name: "one", resource } }];
  await begin(peer, { more: { [list]: { [listName]: wrapped(list, { entries }, { name: listName }) } } });
}

/** Federated names, and lists of endpoints. */
export function federatedChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-xdstp`,
      says: "A resource with a federated name is sent to who asks for that name.",
      because: "Existing fields for resource names continue to be used, with names of the form xdstp://….",
      link: documents.naming,
      level: "SHOULD",
      async run(peer) {
        const stream = await askedCluster(peer, variant, named);
        const { resources } = await stream.gather(cluster, [named]);
        hold(resources.has(named), "the server says that there is none");
      },
    },
    {
      id: `${variant}-xdstp-order`,
      says: "The context parameters of a federated name may come in any order.",
      because: "Two URNs are considered equivalent if they match component-wise modulo context parameter ordering.",
      link: documents.naming,
      level: "SHOULD",
      async run(peer) {
        const stream = await askedCluster(peer, variant, otherOrder);
        await comesWith(stream, cluster, ({ resources }) => resources.length > 0);
      },
    },
    {
      id: `${variant}-endpoint-list`,
      says: "A list of endpoints is sent to who asks for it on the aggregated stream, with its name.",
      because:
        "The list collection is an LbEndpointCollection resource. It has no name of its own: its wrapper says it.",
      link: documents.endpointLists,
      level: "SHOULD",
      async run(peer) {
        const stream = await askedList(peer, variant, 1_000);
        const response = await stream.next(list);
        const resource = resourceIn(response, listName);
        hold(resource?.bodyType === list, `${response.resources.length} resources came, and none with this name`);
      },
    },
    {
      id: `${variant}-endpoint-list-updated`,
      says: "A list of endpoints that changes is sent again.",
      because: "The endpoints of a locality come and go, and the list has them inline.",
      link: documents.endpointLists,
      level: "SHOULD",
      async run(peer) {
        const stream = await askedList(peer, variant, 1_000);
        const response = await stream.next(list);
        stream.ack(response);
        const [before] = response.resources;
        await setList(peer, 1_001);
        await comesWith(stream, list, ({ resources: [now] }) => {
          return now !== undefined && Buffer.compare(now.body, before?.body ?? now.body) !== 0;
        });
      },
    },
  ];
}
