import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type ClientConfigSchema,
  ClientStatusRequestSchema,
  ClientStatusResponseSchema,
  ConfigStatus,
} from "@xdskit/api/envoy/service/status/v3/csds";
import type { Mistake } from "./mistakes.js";
import type { Outlet, Session } from "./session.js";

/** Answers requests for the status of clients. Returns what takes requests. */
export function tellStatus(
  outlet: Outlet,
  sessions: ReadonlySet<Session>,
  mistakes: ReadonlySet<Mistake>,
): (bytes: Uint8Array) => void {
  let answered = 0;
  return (bytes) => {
    const { nodeMatchers, excludeResourceContents } = fromBinary(ClientStatusRequestSchema, bytes);
    if (answered++ > 0 && mistakes.has("csds-once")) return;
    const ids = nodeMatchers.flatMap(({ nodeId }) =>
      nodeId?.matchPattern.case === "exact" ? nodeId.matchPattern.value : [],
    );
    const isMatched = ({ node }: Session) =>
      node !== undefined && (ids.length === 0 || ids.includes(node.id) || mistakes.has("csds-matchers-ignored"));
    const isFull = !excludeResourceContents || mistakes.has("csds-contents-always");
    const told = mistakes.has("csds-knows-nobody") ? [] : [...sessions].filter(isMatched);
    const config = told.map((session) => configOf(session, isFull, mistakes));
    outlet.send(toBinary(ClientStatusResponseSchema, create(ClientStatusResponseSchema, { config })));
  };
}

function configOf(
  { node, statuses }: Session,
  isFull: boolean,
  mistakes: ReadonlySet<Mistake>,
): MessageInitShape<typeof ClientConfigSchema> {
  const words = {
    sent: ConfigStatus.STALE,
    accepted: mistakes.has("csds-never-synced") ? ConfigStatus.STALE : ConfigStatus.SYNCED,
    rejected: mistakes.has("csds-never-error") ? ConfigStatus.SYNCED : ConfigStatus.ERROR,
  };
  const genericXdsConfigs = [...statuses].map(([typeUrl, status]) => ({
    typeUrl,
    configStatus: words[status],
    ...(isFull ? { xdsConfig: { typeUrl, value: new Uint8Array() } } : {}),
  }));
  return { ...(node === undefined ? {} : { node }), genericXdsConfigs };
}
