import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { RouteOption } from "@xdskit/api/builders";
import type { RouteRule } from "../objects/mesh-route.js";
import type { Policy } from "../objects/policy.js";

type RoutedCalls = NonNullable<RouteOption["route"]>;

/** What every call of a Service has, and those of one rule of a route. */
export function callsOf(policy: Policy, rule: Partial<RouteRule> = {}): RoutedCalls {
  const { hashHeader } = policy;
  const { timeoutMs = policy.timeoutMs } = rule;
  const retryPolicy = retriesOf(policy, rule);
  return {
    ...(hashHeader === undefined
      ? {}
      : { hashPolicy: [{ policySpecifier: { case: "header", value: { headerName: hashHeader } } }] }),
    ...(timeoutMs === undefined ? {} : { maxStreamDuration: { maxStreamDuration: durationFromMs(timeoutMs) } }),
    // What Envoys follow as well.
    ...(rule.timeoutMs === undefined ? {} : { timeout: durationFromMs(rule.timeoutMs) }),
    ...(retryPolicy === undefined ? {} : { retryPolicy }),
  };
}

/** The codes of gRPC for the statuses of HTTP, as Google's APIs have them. */
const codes: Readonly<Record<number, string>> = {
  429: "resource-exhausted",
  499: "cancelled",
  500: "internal",
  502: "unavailable",
  503: "unavailable",
  504: "deadline-exceeded",
};

function retriesOf(
  { retries, retryOn, backoffMs }: Policy,
  { retry, tryTimeoutMs }: Partial<RouteRule>,
): RoutedCalls["retryPolicy"] | undefined {
  const perTry = tryTimeoutMs === undefined ? {} : { perTryTimeout: durationFromMs(tryTimeoutMs) };
  if (retry !== undefined) {
    const words = retry.codes.flatMap((code) => codes[code] ?? []);
    const ofHttp = retry.codes.length > 0 ? ["retriable-status-codes"] : [];
    return {
      ...perTry,
      // A connection that breaks is worth a retry, whatever the codes: `reset` for HTTP, `unavailable` for gRPC.
      retryOn: [...new Set(["reset", "unavailable", ...ofHttp, ...words])].join(),
      retriableStatusCodes: [...retry.codes],
      numRetries: retry.attempts ?? 1,
      ...(retry.backoffMs === undefined ? {} : { retryBackOff: { baseInterval: durationFromMs(retry.backoffMs) } }),
    };
  }
  // Go's client rejects a policy of no retries.
  if (retries !== 0 && (retries !== undefined || retryOn !== undefined))
    return {
      ...perTry,
      retryOn: (retryOn ?? ["unavailable"]).join(),
      numRetries: retries ?? 1,
      ...(backoffMs === undefined
        ? {}
        : {
            retryBackOff: { baseInterval: durationFromMs(backoffMs.base), maxInterval: durationFromMs(backoffMs.most) },
          }),
    };
  return tryTimeoutMs === undefined ? undefined : perTry;
}
