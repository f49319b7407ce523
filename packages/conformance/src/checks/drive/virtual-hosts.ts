import { type World, wrapped } from "../../driver/driven-content.js";
import type { ServerPeer } from "../../peer/peer.js";
import { hold } from "../../verdicts/verdicts.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { begin, comesChanged, comesWith, resourceIn } from "./driving.js";

const [host, route] = ["virtual-host", "route"].map(typeUrlOf) as [string, string];
const ads = { ads: {}, resourceApiVersion: "V3" };
const name = "h/one.example";
const alias = "h/two.example";
const late = "h/late.example";

const hostOf = (name: string, aliases: string[], cluster: string): object => {
  const domains = [name, ...aliases].map((one) => one.slice(one.lastIndexOf("/") + 1));
  const routes = [{ match: { prefix: "/" }, route: { cluster } }];
  return wrapped(host, { name, domains, routes }, { name, aliases });
};

/** A route configuration whose virtual hosts are asked for one by one; one of them has an alias. */
const content = (cluster: string, more: Readonly<Record<string, object>> = {}): Partial<World> => ({
  more: {
    [route]: { h: { name: "h", vhds: { configSource: ads } } },
    [host]: { [name]: hostOf(name, [alias], cluster), ...more },
  },
});

async function asked(peer: ServerPeer, ...names: readonly string[]): Promise<XdsStream> {
  peer.needs("types");
  peer.needs("aliases");
  await begin(peer, content("a"));
  return peer.asking("delta", host, names);
}

/** Virtual hosts that are asked for when they are needed, also by other names. */
export const virtualHostChecks: readonly CheckBody[] = [
  {
    id: "delta-alias",
    says: "Who asks for an alias is sent the resource with its name, and with the alias among its aliases.",
    because: "The client can send an alias. The resource name will be returned in the name field.",
    link: documents.aliases,
    async run(peer) {
      const stream = await asked(peer, alias);
      const { resources } = await comesWith(stream, host, ({ resources }) => resources.length > 0);
      const [resource] = resources;
      hold(resource?.name === name && resource.bodyType !== "", `${JSON.stringify(resource?.name)} came`);
      hold(resource.aliases.includes(alias), "the alias is not among its aliases");
    },
  },
  {
    id: "delta-alias-updated",
    says: "Who asked for an alias is told of changes.",
    because: "Both the names and aliases of resources should be checked to see whether they have been subscribed to.",
    link: documents.deltaSubscribing,
    async run(peer) {
      const stream = await asked(peer, alias);
      const first = resourceIn(await comesWith(stream, host, (one) => resourceIn(one, name) !== undefined), name)!;
      await begin(peer, content("b"));
      await comesChanged(stream, host, name, first.body);
    },
  },
  {
    id: "delta-alias-dropped",
    says: "Who asked for an alias and drops it is not told of changes any more.",
    because: "As with resource_names_subscribe, these may be resource names or aliases.",
    link: documents.unsubscribing,
    level: "SHOULD",
    async run(peer) {
      const stream = await asked(peer, alias);
      await comesWith(stream, host, (one) => resourceIn(one, name) !== undefined);
      await stream.acceptRest();
      stream.send({ type: host, unsubscribe: [alias] });
      await stream.acceptRest();
      await begin(peer, content("b"));
      await stream.silent();
    },
  },
  {
    id: "delta-name-and-alias",
    says: "Who asks for a name and an alias of one resource is sent one copy.",
    because: "Names of resources are unique in a response, and an alias leads to the same resource.",
    link: documents.aliases,
    level: "SHOULD",
    async run(peer) {
      const stream = await asked(peer, name, alias);
      const came = (await stream.answer(host)).flatMap(({ resources }) => resources);
      hold(came.length === 1 && came[0]?.name === name, `${came.length} resources came`);
    },
  },
  {
    id: "delta-hosts-not-asked",
    says: "A first request for virtual hosts that names none is sent none.",
    because:
      "Only listeners and clusters have a wildcard without names. But the page of VHDS speaks of a base " +
      "configuration that a client is sent when it connects.",
    link: documents.vhds,
    level: "either",
    async run(peer) {
      const stream = await asked(peer);
      const came = (await stream.comes()).flatMap(({ resources }) => resources);
      hold(came.length === 0, `${came.length} hosts came`);
    },
  },
  {
    id: "delta-unknown-host",
    says: "A virtual host that does not exist is answered: a resource without content, with the name as its alias.",
    because:
      "The server should respond with the name and aliases set to the requested host entry and the resource " +
      "unpopulated. So says the page of VHDS; the protocol's document has removed_resources for all types.",
    link: documents.vhds,
    level: "SHOULD",
    async run(peer) {
      const stream = await asked(peer, late);
      const response = await stream.next(host);
      hold(!response.removed.includes(late), "it is told as removed, for which an Envoy's request waits in vain");
      const resource = resourceIn(response, late);
      hold(resource?.bodyType === "", "there is no such resource");
      hold(resource.aliases.includes(late), "the name is not among its aliases");
    },
  },
  {
    id: "delta-host-created",
    says: "A virtual host that did not exist when it was asked for is sent once it does.",
    because: "If one of those resources springs into existence later, the server must send an update.",
    link: documents.absence,
    async run(peer) {
      const stream = await asked(peer, late);
      await stream.acceptRest();
      await begin(peer, content("a", { [late]: hostOf(late, [], "a") }));
      await comesWith(stream, host, (one) => (resourceIn(one, late)?.bodyType ?? "") !== "");
    },
  },
];
