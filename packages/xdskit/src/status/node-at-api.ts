import type { ResourceReport, TypeReport } from "@xdskit/server/status-client";
import type { ApiServer } from "../api-client/api-server.js";
import { withServer } from "../api-client/with-server.js";
import { jsonText } from "../output/json-text.js";
import { isInTheWay, troubleLine } from "../output/messages/trouble-line.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { serverTroubles, sourceTroubles } from "../top/source-troubles.js";
import { type ClientState, type ClientView, isBehind, type ResourceStatusView, type TypeView } from "./client-view.js";
import { clientDetails } from "./table.js";

/** A node in full as the API says it: dates are texts there. */
interface NodeAnswer {
  readonly id: string;
  readonly cluster: string;
  readonly client: string;
  readonly state: ClientState;
  readonly why: string;
  readonly streams: readonly { readonly types: readonly TypeReport[] }[];
  /** Those that are not synced. */
  readonly resources: readonly ResourceReport[];
}

interface NodeAtApi {
  readonly server: ApiServer;
  readonly node: string;
  readonly json: boolean;
  readonly check: boolean;
}

/** Prints what one node has, and what is served to none, as the admin listener says it. Resolves to the exit status. */
export function runNodeAtApi({ server, node, json, check }: NodeAtApi, terminal: Terminal): Promise<number> {
  return withServer("status", { server }, terminal, async (client) => {
    const call = { at: { id: node } };
    const [answer, { revisions }, { sources }, { problems }] = await Promise.all([
      client.get("/api/v1/nodes/{id}", call),
      client.get("/api/v1/nodes/{id}/summary", call),
      client.get("/api/v1/sources"),
      client.get("/api/v1/problems"),
    ]);
    const troubles = [...serverTroubles(problems), ...sourceTroubles(sources, [])];
    const view = { ...viewOf(answer as unknown as NodeAnswer), revisions };
    if (json) {
      const answer = { server: client.server, at: new Date(), troubles, nodes: [view] };
      terminal.out(jsonText(answer));
    } else {
      const paint = paintOf(terminal, "out");
      const said = troubles.map((trouble) => `${troubleLine(trouble, paint)}\n`).join("");
      tell(terminal, said + clientDetails(view, new Date(), paint));
    }
    return check && (isBehind(view.state) || troubles.some(isInTheWay)) ? exitStatus.failed : exitStatus.ok;
  });
}

function viewOf({ id, cluster, client, state, why, streams, resources }: NodeAnswer): ClientView {
  const types = streams.flatMap((stream) => stream.types).map((type) => typeView(type, resources));
  return { id, cluster, state, why, types, userAgent: client, scope: "" };
}

function typeView(report: TypeReport, all: readonly ResourceReport[]): TypeView {
  const { type, typeUrl, state, behind, why, waits, heldBack, untoldTtls, sent, acknowledged, rejected } = report;
  const error = rejected && {
    details: rejected.message,
    at: new Date(rejected.at),
    version: rejected.version,
  };
  const isOnItsWay = state === "pending" || state === "stale";
  const times = [sent?.at, acknowledged?.at, rejected?.at].flatMap((at) => (at == null ? [] : [+new Date(at)]));
  return {
    type,
    typeUrl,
    state,
    behind,
    why,
    waits,
    heldBack,
    untoldTtls,
    error,
    acknowledged: acknowledged?.version,
    sent: isOnItsWay ? sent?.version : (rejected?.version ?? acknowledged?.version),
    wanted: isOnItsWay && report.wantedVersion !== sent?.version ? report.wantedVersion : undefined,
    rejected: rejected?.version,
    behindIsLeast: false,
    lastUpdated: times.length === 0 ? undefined : new Date(Math.max(...times)),
    // What is held back is counted: the client has all that it should have for now.
    resources: all.flatMap((one) =>
      one.typeUrl === typeUrl && one.state !== "held-back" ? [resourceView(one, error)] : [],
    ),
  };
}

function resourceView(one: ResourceReport, error: TypeView["error"]): ResourceStatusView {
  const { name, acknowledged = "", isBlamed } = one;
  const state = one.state === "not-sent" ? "pending" : one.state;
  return { name, state, version: acknowledged, lastUpdated: undefined, error: isBlamed ? error : undefined };
}
