import { Alarm, type Clock } from "@xdskit/api";
import type { Node, Stream } from "@xdskit/protocol";
import { tellsTtl } from "@xdskit/protocol";
import type { NodeStreamInfo, StreamInfo } from "../contracts/nodes/stream-info.js";
import type { Caller } from "../identity/caller.js";
import type { GroupLags } from "../publication/latencies.js";
import type { Membership } from "../publication/membership.js";
import type { Admission } from "../publication/publication.js";
import type { PulseListener } from "../publication/pulse.js";
import type { GroupClient } from "../publication/stack-part.js";
import { memberStandingOf } from "./member-standing.js";
import type { OrderMembership } from "./node-orders.js";
import { lacksClusters, maxWarmingMs, Resumption } from "./resumption/resumption.js";
import type { SessionContext } from "./session-context.js";

/** The parts of a stream whose node has been admitted. */
export interface Joined extends Pick<Admission, "ttl" | "resourceErrors"> {
  readonly stream: NodeStreamInfo;
  readonly membership: Membership;
  readonly lags: GroupLags;
  /** Undefined if changes go out at once, without any wait. */
  readonly order: OrderMembership | undefined;
  readonly alarm: Alarm | undefined;
  /** When it joined the order, in milliseconds of the server's clock. */
  readonly since: number;
  /** Undefined if the client cannot have anything from before a restart, or nothing is ordered, and once it is over. */
  resumption: Resumption | undefined;
}

/** A stream that joins, as what it joins sees it. */
export interface JoiningStream {
  readonly info: StreamInfo;
  readonly machine: Stream;
  readonly client: GroupClient & PulseListener;
  readonly caller: Caller;
  /** It may have another target now. */
  targetChanged(): void;
  /** A fault of the server, where no caller would catch it. */
  failed(error: unknown): void;
  /** A deadline of its machine is over. */
  due(): void;
}

type JoinContext = Pick<SessionContext<never>, "orders" | "clock" | "catchUp" | "counters">;

/** Joins the group and the order of a node that was admitted. */
export function joinNode(joining: JoiningStream, context: JoinContext, admission: Admission, node: Node): Joined {
  return joinGroup(joining, context, admission, node, "comes back");
}

/** Joins the group that its node is in now, or, if it stays in its group, the order that there is now. */
export function joinAgain(
  joining: JoiningStream,
  context: JoinContext,
  joined: Joined,
  admission: Admission | undefined,
): Joined {
  const { membership, stream } = joined;
  leaveOrder(joined, joining.machine, context.clock);
  if (admission === undefined) {
    const { lags, ttl, resourceErrors } = joined;
    const { order, alarm, since } = ordered(joining, context, stream.node, membership);
    return { stream, membership, lags, order, alarm, since, resumption: undefined, ttl, resourceErrors };
  }
  membership.seat.ends?.();
  membership.leave();
  return joinGroup(joining, context, admission, stream.node, "is here");
}

/** Nothing of the order, nor of a time, reaches the stream any more. */
export function leaveOrder(
  { alarm, order, since, resumption }: Joined,
  { asked, newest }: Pick<Stream, "asked" | "newest">,
  clock: Clock,
): void {
  alarm?.set(undefined);
  resumption?.end();
  if (order === undefined) return;
  const isKnown = !order.mayAskForClusters || clock.now() - since >= maxWarmingMs;
  order.leave(isKnown && lacksClusters(asked, newest));
}

function joinGroup(
  joining: JoiningStream,
  context: JoinContext,
  admission: Admission,
  node: Node,
  client: "comes back" | "is here",
): Joined {
  const { info, client: member } = joining;
  const { ttl, resourceErrors } = admission;
  const membership = admission.join(member, tellsTtl(info.method, node, ttl) ? member : undefined);
  const { group } = membership;
  const { id, method, peer } = info;
  // Written out, since each stream keeps them: V8 gives what is spread a hidden class of its own.
  const stream: NodeStreamInfo = { id, method, peer, node, group };
  const lags = context.counters.latencies.ofGroup(group);
  const { order, alarm, since } = ordered(joining, context, node, membership);
  const resumes = client === "comes back" && order !== undefined;
  const resumption = resumes ? resumptionOf(joining, context, membership, order.mayAskForClusters) : undefined;
  return { stream, membership, lags, order, alarm, since, resumption, ttl, resourceErrors };
}

function ordered(
  { info, caller, due }: JoiningStream,
  { orders, clock }: JoinContext,
  node: Node,
  membership: Membership,
): Pick<Joined, "order" | "alarm" | "since"> {
  const past = () => membership.past();
  const order = orders.join(info.method, { caller, node, group: membership.group }, past);
  return { order, alarm: order && new Alarm(clock, due), since: clock.now() };
}

function resumptionOf(
  { info, machine, targetChanged, failed }: JoiningStream,
  context: JoinContext,
  membership: Membership,
  mayAskForClusters: boolean,
): Resumption {
  // Its target may be a view, or older than what was published since its last turn.
  const known = () => membership.past();
  const { clock, catchUp } = context;
  const { earlier, recent } = membership.stack;
  const maySayMore = earlier.length > 0 || recent.drains;
  const { only, variant } = info.method;
  const isAggregated = only === undefined;
  return new Resumption({
    clock,
    stream: machine,
    standing: () => memberStandingOf(machine),
    known,
    targetChanged,
    failed,
    catchUp,
    maySayMore,
    isAggregated,
    mayWarm: isAggregated && mayAskForClusters,
    tellsAbsence: variant === "delta",
  });
}
