import { type DescMessage, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry, readResources } from "@xdskit/api";
import type { Case } from "../../../packages/api/src/testing/corpus/index.js";
import type { Candidate, EnvoyJudge, Verdict } from "./envoy-judge.js";

/** What xdskit and Envoy make of one resource. */
export interface Judged<Of extends { readonly name: string } = Case> {
  readonly of: Of;
  /** Why xdskit refuses it, as `validate` says it; undefined where it is taken. */
  readonly ours: string | undefined;
  readonly envoys: Verdict;
}

/** Reads a resource as `xdskit validate` reads a file with it. */
export function ourVerdict({ resource }: Case): string | undefined {
  const { findings } = readResources({ path: "case.json", bytes: Buffer.from(JSON.stringify(resource)) });
  const error = findings.find(({ severity }) => severity === "error");
  if (error === undefined) return undefined;
  return [error.field, error.message, error.rule].filter((part) => part !== undefined).join(": ");
}

/** The message of a case's resource. */
export function schemaOf({ type }: Case): DescMessage {
  const schema = envoyRegistry().getMessage(type);
  if (schema === undefined) throw new Error(`there is no ${type}`);
  return schema;
}

/**
 * A resource as it goes over the wire: encoded here, and not by what reads files, so that what xdskit refuses is asked
 * about too.
 */
export function candidateOf(of: Case): Candidate {
  const { "@type": _, ...json } = of.resource;
  const schema = schemaOf(of);
  const name = json[schema.fields.some((field) => field.name === "cluster_name") ? "cluster_name" : "name"];
  const body = toBinary(schema, fromJson(schema, json as JsonObject, { registry: envoyRegistry() }));
  return { typeUrl: `type.googleapis.com/${of.type}`, name: typeof name === "string" ? name : "", body };
}

/** Asks both about each case. `taken` hears of those that Envoy has at the moment. */
export async function judgeAll(
  cases: readonly Case[],
  judge: EnvoyJudge,
  taken?: (cases: readonly Case[], admin: string) => Promise<void>,
): Promise<readonly Judged[]> {
  const byName = new Map<string, Case>();
  const candidates = cases.map((of) => {
    const candidate = candidateOf(of);
    byName.set(candidate.name, of);
    return candidate;
  });
  const verdicts = await judge.judge(
    candidates,
    taken === undefined
      ? undefined
      : (names, admin) =>
          taken(
            [...names].flatMap((name) => byName.get(name) ?? []),
            admin,
          ),
  );
  return cases.map((of, index) => ({ of, ours: ourVerdict(of), envoys: verdicts[index]! }));
}
