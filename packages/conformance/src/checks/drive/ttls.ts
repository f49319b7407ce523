import { endpointsOf, wrapped } from "../../driver/driven-content.js";
import type { ServerPeer } from "../../peer/peer.js";
import { hold, Skipped } from "../../verdicts/verdicts.js";
import type { ProtocolVariant, ReceivedResponse, ResponseResource } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { begin, comesWith, resourceIn } from "./driving.js";

const endpoint = typeUrlOf("endpoint");
/** So short that a heartbeat comes soon, and so long that it can come in time. */
const ttlMs = 1_200;
const features = ["xds.config.supports-resource-ttl", "xds.config.supports-resource-in-sotw"];

/** The endpoints of `a` have a TTL, or none. */
const content = (ttl?: number) => {
  const about = { name: "a", ...(ttl === undefined ? {} : { ttl: `${ttl / 1_000}s` }) };
  return { more: { [endpoint]: { a: wrapped(endpoint, endpointsOf("a", 1), about) } } };
};

/** A stream whose client understands TTLs, or not, that asked for the endpoints; and what came first. */
async function asked(
  peer: ServerPeer,
  variant: ProtocolVariant,
  understands: boolean,
): Promise<{ stream: XdsStream; response: ReceivedResponse; first: ResponseResource }> {
  peer.needs("ttl");
  await begin(peer, content(ttlMs));
  const stream = peer.open(variant, understands ? peer.nodeWith(...features) : peer.node);
  stream.ask(endpoint, ["a"]);
  const response = await comesWith(stream, endpoint, (one) => resourceIn(one, "a") !== undefined);
  return { stream, response, first: resourceIn(response, "a")! };
}

/** What renews the TTL of `a` in time. Throws Skipped if nothing does. */
async function renewed(stream: XdsStream): Promise<ReceivedResponse | undefined> {
  const end = Date.now() + ttlMs;
  while (Date.now() < end) {
    for (const response of await stream.comes()) {
      stream.ack(response);
      if (resourceIn(response, "a") !== undefined) return response;
    }
  }
  return undefined;
}

/** How long the client may use a resource without the server. */
export function ttlChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-ttl`,
      says: "A client that understands TTLs is told the TTL of a resource that has one.",
      because: "For clients that support the client feature, a TTL field may be specified on each Resource.",
      link: documents.ttl,
      level: "SHOULD",
      async run(peer) {
        const { first } = await asked(peer, variant, true);
        hold(first.ttlMs === ttlMs, `its TTL is ${first.ttlMs ?? "not there"}`);
      },
    },
    {
      id: `${variant}-ttl-untold`,
      says:
        variant === "sotw"
          ? "A client that does not say that it understands TTLs gets the bare resource."
          : "A client that does not say that it understands TTLs gets the resource without a TTL.",
      because:
        variant === "sotw"
          ? "This feature is gated by a client feature. A client without it cannot read the wrapper."
          : "A TTL may be specified for clients that support it. Others can read the resource all the same.",
      link: documents.ttl,
      level: variant === "sotw" ? "MUST" : "SHOULD",
      async run(peer) {
        const { first } = await asked(peer, variant, false);
        hold(first.ttlMs === undefined, `its TTL is ${first.ttlMs} ms`);
        hold(variant === "delta" || !first.isWrapped, "it is wrapped");
      },
    },
    {
      id: `${variant}-ttl-renewed`,
      says: "Before the time of a resource is over, the server renews it.",
      because: "The TTL removes resources if contact with the management server is lost, and not while it is there.",
      link: documents.ttl,
      level: "SHOULD",
      async run(peer) {
        const { stream } = await asked(peer, variant, true);
        hold((await renewed(stream)) !== undefined, `nothing came within its TTL of ${ttlMs} ms`);
      },
    },
    {
      id: `${variant}-ttl-renewed-as-is`,
      says: "What renews a TTL has the version that was sent last, and the TTL.",
      because: "The heartbeat's version matches the most recently sent version.",
      link: documents.ttl,
      async run(peer) {
        const { stream, response, first } = await asked(peer, variant, true);
        const again = await renewed(stream);
        if (again === undefined) throw new Skipped("the server does not renew TTLs");
        const resource = resourceIn(again, "a")!;
        const [is, was] = variant === "sotw" ? [again.version, response.version] : [resource.version, first.version];
        hold(is === was, "it has another version");
        hold(resource.ttlMs === ttlMs, `its TTL is ${resource.ttlMs ?? "not there"}`);
        return resource.bodyType === "" ? "without the content" : "with the content";
      },
    },
    {
      id: `${variant}-ttl-changed`,
      says: "When the TTL of a resource changes or is taken away, the resource is sent again.",
      because: "The server resends the resource with a new TTL; to remove it, with the TTL field unset.",
      link: documents.ttl,
      async run(peer) {
        const { stream } = await asked(peer, variant, true);
        for (const ttl of [60_000, undefined]) {
          await begin(peer, content(ttl));
          const end = Date.now() + peer.bounds.answerMs;
          await comesWith(stream, endpoint, (one) => {
            const resource = resourceIn(one, "a");
            // What renews the old TTL may come for ever.
            hold(Date.now() < end, "only what was sent before came");
            return resource !== undefined && resource.bodyType !== "" && resource.ttlMs === ttl;
          });
        }
      },
    },
  ];
}
