import { stringifyJson } from "@xdskit/api";

/** A value as commands print it for programs. */
export function jsonText(value: object): string {
  return `${stringifyJson(value, 2)}\n`;
}
