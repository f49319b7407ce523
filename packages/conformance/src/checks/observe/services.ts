import type { ServerPeer } from "../../peer/peer.js";
import { Failed, hold, Skipped } from "../../verdicts/verdicts.js";
import { unimplemented } from "../../wire/call-stream.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import { typeNamed, typeUrlOf, typeWord } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { sameNames } from "./differences.js";
import { endWords } from "./openings.js";

/** Per-type services, and the order on the aggregated one. */
export function serviceChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-services`,
      says: "A type's own service has the same resources as the aggregated one.",
      because: "There is a separate RPC service for each resource type; ADS combines them into a single stream.",
      link: documents.services,
      async run(peer) {
        return await eachService(peer, variant, peer.content.types(), async (type, stream) => {
          const names = peer.content.names(type);
          const asked = typeNamed(type).fullState ? undefined : names;
          stream.ask(type, asked);
          const { resources } = await stream.gather(type, asked);
          sameNames(`the service of ${typeWord(type)}`, resources.keys(), names);
        });
      },
    },
    {
      id: `${variant}-service-without-type`,
      says: "A request to a type's own service need not say the type.",
      because: "The type_url is implicit in requests made via singleton xDS APIs such as CDS.",
      link: documents.request,
      async run(peer) {
        const stream = await clusterService(peer, variant);
        stream.send({ type: "" });
        const response = await stream.next();
        hold(response.type === typeUrlOf("cluster"), `the response's type_url is ${JSON.stringify(response.type)}`);
      },
    },
    {
      id: `${variant}-service-other-type`,
      says: "A type's own service sends no resources of another type, whatever the request says.",
      because: "The type of a method's resources is that of its service. No sentence says what becomes of another one.",
      link: documents.services,
      level: "SHOULD",
      async run(peer) {
        const other = typeUrlOf("listener");
        const stream = await clusterService(peer, variant);
        stream.send({ type: other });
        await peer.quiet();
        const foreign = stream.taken().find(({ type, resources }) => type === other && resources.length > 0);
        hold(foreign === undefined, "the service of clusters sends listeners");
        return endWords(stream, "the server says nothing");
      },
    },
    {
      id: `${variant}-ads-order`,
      says: "Types that are asked for at once are answered in the order clusters, endpoints, listeners, routes.",
      because: "CDS updates must always be pushed first; EDS after CDS; LDS after these; RDS after LDS.",
      link: documents.ordering,
      level: "SHOULD",
      async run(peer) {
        const stream = peer.open(variant);
        const types = ["cluster", "endpoint", "listener", "route"]
          .map(typeUrlOf)
          .filter((type) => peer.content.names(type).length > 0);
        if (types.length < 2) throw new Skipped("the server has resources of one type only");
        for (const type of types) {
          const isNamed = type === typeUrlOf("endpoint") || type === typeUrlOf("route");
          stream.ask(type, isNamed ? peer.content.names(type) : []);
        }
        const order: string[] = [];
        while (order.length < types.length) {
          const response = await stream.next();
          stream.ack(response);
          if (!order.includes(response.type)) order.push(response.type);
        }
        hold(order.join() === types.join(), `the order was ${order.map(typeWord).join(", ")}`);
      },
    },
  ];
}

/** Throws Skipped if the server does not have the service that the stream is of. */
export async function ofService<T>(stream: XdsStream, type: string, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof Failed) || stream.end?.code !== unimplemented) throw error;
    throw new Skipped(`the server offers no service of ${typeWord(type)}`);
  }
}

/** Judges services of single types. Tells which there are not; throws Skipped if there is none. */
export async function eachService(
  peer: ServerPeer,
  variant: ProtocolVariant,
  types: readonly string[],
  judge: (type: string, stream: XdsStream) => Promise<unknown>,
): Promise<string | undefined> {
  const absent: string[] = [];
  for (const type of types) {
    const stream = peer.openService(variant, type);
    await ofService(stream, type, () => judge(type, stream)).catch((error: unknown) => {
      if (!(error instanceof Skipped)) throw error;
      absent.push(error.message);
    });
  }
  if (absent.length === types.length) throw new Skipped("the server offers no services of these types");
  return absent.join("; ") || undefined;
}

/** A stream of the service of clusters. Throws Skipped if there is no such service. */
async function clusterService(peer: ServerPeer, variant: ProtocolVariant): Promise<XdsStream> {
  const cluster = typeUrlOf("cluster");
  const probe = peer.openService(variant, cluster);
  probe.ask(cluster);
  await ofService(probe, cluster, () => probe.next(cluster));
  probe.cancel();
  return peer.openService(variant, cluster);
}
