import { XdskitError } from "@xdskit/api";
import { createGroups } from "../configuration/groups.js";
import { checkOptions } from "../configuration/option-checks.js";
import { checkServerCall } from "../configuration/option-tables.js";
import type { LiveOptions } from "../contracts/kernel-options.js";
import type { ServerOptions } from "../contracts/server-options.js";
import type { OpenCalls } from "../gate/open-calls.js";
import type { Gate } from "../identity/caller.js";
import type { Publication } from "../publication/publication.js";
import { defaultServerLimits, fixedLimits, type ServerLimits } from "../settings/limits.js";
import type { NodeOrders } from "./node-orders.js";
import type { Session } from "./session.js";

/** The parts of a server that can change while it runs. */
interface Running {
  readonly settings: {
    readonly options: ServerOptions;
    readonly limits: ServerLimits;
    /** The current options. */
    live: LiveOptions;
  };
  readonly core: {
    readonly publication: Publication;
    readonly sessions: Iterable<Session>;
    readonly gate: Gate;
    readonly openCalls: OpenCalls;
    readonly parts: { reconfigured(change: LiveOptions): void };
  };
  readonly orders: NodeOrders;
}

/** Replaces options of a running server. Throws an XdskitError, and changes nothing, if one is wrong. */
export function reconfigure(change: LiveOptions, { settings, core, orders }: Running): void {
  checkServerCall("server.reconfigure", change);
  checkOptions(change, settings.options);
  const { references } = change;
  const given = Object.entries(change.limits ?? {}).filter(([, most]) => most !== undefined);
  const limits: ServerLimits = { ...defaultServerLimits, ...Object.fromEntries(given) };
  const fixed = fixedLimits.filter((limit) => change.limits !== undefined && limits[limit] !== settings.limits[limit]);
  if (fixed.length > 0) throw wrong(`limits.${fixed.join(", limits.")} cannot change while the server runs`);
  const live = { ...settings.live, ...change, references: references ?? settings.live.references };
  const areGroups = "groups" in change || "rollout" in change || "onReject" in change;
  if (areGroups && [live.groups, settings.live.groups].some((groups) => typeof groups === "function"))
    throw wrong("groups that a function names cannot change while the server runs");
  const groups = areGroups ? createGroups(live.groups, settings.options.ttl, live) : undefined;

  settings.live = live;
  if (change.limits !== undefined) Object.assign(settings.limits, limits);
  const wasOff = orders.isOff;
  if ("ordering" in change) orders.change(change.ordering);
  if (groups !== undefined) core.publication.regroup(groups);
  if ("identities" in change) core.gate.use(live.identities);
  const isOrderChanged = orders.isOff !== wasOff;
  if (groups !== undefined || isOrderChanged) for (const session of [...core.sessions]) session.rejoin(isOrderChanged);
  if ("identities" in change) core.openCalls.recheck();
  core.parts.reconfigured(change);
}

function wrong(message: string): XdskitError {
  return XdskitError.of("XDSKIT_SERVER_OPTION", `server.reconfigure: ${message}`);
}
