import { type Finding, messageOf, XdskitError } from "@xdskit/api";

/** What an error of a store says: its findings, or else its message under XDSKIT_STORE. */
export function storeFindings(error: unknown): readonly Finding[] {
  if (error instanceof XdskitError && error.findings.length > 0) return error.findings;
  const message = messageOf(error);
  return [{ code: "XDSKIT_STORE", severity: "error", message }];
}

/** The first finding of an error of a store, or its message as one, under XDSKIT_STORE. */
export function storeFinding(error: unknown): Finding {
  return storeFindings(error)[0] as Finding;
}

/** What problems are compared by: errors of the network also say how long each try took. */
export function withoutNumbers({ message }: Finding): string {
  return message.replace(/\d+/g, "");
}
