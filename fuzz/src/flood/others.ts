import { once } from "node:events";
import { createCaller } from "./caller.js";
import { firstRequest } from "./messages.js";

/** How others fare: the times of their answers, in milliseconds, and with which status the server refused them. */
export interface Served {
  readonly ms: readonly number[];
  readonly refused: readonly number[];
}

/** Comes anew and again, one after the other, and waits each time for all clusters. */
export async function askAgainAndAgain(
  { token, tenant, ...ports }: { token: string; tenant: string; grpc: string; rest: string },
  isOver: (asked: number) => boolean,
): Promise<Served> {
  const caller = createCaller(token, ports);
  const [ms, refused]: [number[], number[]] = [[], []];
  while (!isOver(ms.length + refused.length)) {
    const begin = performance.now();
    const stream = caller.open("Stream");
    stream.send(firstRequest(tenant));
    await once(stream.news, "news");
    if (stream.answers > 0) ms.push(performance.now() - begin);
    else refused.push(stream.ended ?? -1);
    stream.close();
  }
  caller.close();
  return { ms, refused };
}

/** The time within which this part of the answers came. */
export function quantile(ms: readonly number[], part: number): number {
  const sorted = [...ms].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
