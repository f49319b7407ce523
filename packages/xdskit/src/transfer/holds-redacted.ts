import { redacted } from "@xdskit/api";

/** Whether a secret is left out somewhere in it. */
export function holdsRedacted(value: unknown): boolean {
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === redacted || next === redactedBytes) return true;
    if (typeof next === "object" && next !== null) waiting.push(...Object.values(next));
  }
  return false;
}

/** As a field of bytes holds it. */
const redactedBytes = Buffer.from(redacted).toString("base64");
