import { defaultServerLimits, dividedLimits, type ServerLimits } from "@xdskit/server";

/** The limits of one of several processes: together they allow nobody more than one process would. */
export function limitsOfWorker(limits: Partial<ServerLimits> = {}, workers = 1): Partial<ServerLimits> {
  if (workers === 1) return limits;
  const parts = dividedLimits.map((name) => {
    const most = limits[name] ?? defaultServerLimits[name];
    return [name, Math.max(1, Math.floor(most / workers))] as const;
  });
  return { ...limits, ...Object.fromEntries(parts) };
}
