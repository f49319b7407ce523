import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * The ends of the ranges that rules of order allow, and the values just beyond them. `step` is the smallest difference.
 */
export interface Bounds {
  /** Values at the ends, within. */
  readonly within: readonly { readonly rule: string; readonly value: number }[];
  /** Values that break one rule, with that rule. */
  readonly beyond: readonly { readonly rule: string; readonly value: number }[];
}

/** Reads `gt`, `gte`, `lt`, `lte` and `const` of one set of rules. */
export function boundsOf(rules: JsonObject, step: number, read: (value: JsonValue) => number = Number): Bounds {
  const within: { rule: string; value: number }[] = [];
  const beyond: { rule: string; value: number }[] = [];
  const end = (rule: string, inner: number, outer: number): void => {
    const limit = rules[rule];
    if (limit === undefined) return;
    within.push({ rule, value: read(limit) + inner });
    beyond.push({ rule, value: read(limit) + outer });
  };
  // If the lower end is above the upper one, the values between them are forbidden.
  const lower = rules.gt ?? rules.gte;
  const upper = rules.lt ?? rules.lte;
  if (lower !== undefined && upper !== undefined && read(lower) > read(upper)) {
    return { within: [{ rule: "range", value: read(lower) + step }], beyond: [] };
  }
  end("gt", step, 0);
  end("gte", 0, -step);
  end("lt", -step, 0);
  end("lte", 0, step);
  end("const", 0, step);
  return { within, beyond };
}

/** `0.25s` as 0.25. */
export function secondsOf(duration: JsonValue): number {
  return Number(String(duration).replace(/s$/, ""));
}

/** 0.25 as `0.25s`, with at most nanoseconds. */
export function durationOf(seconds: number): string {
  return `${seconds.toFixed(9).replace(/\.?0+$/, "")}s`;
}
