import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { envoySchema, readResources } from "@xdskit/api";
import type { Mutated } from "../../../packages/api/src/testing/mutations/mutated.js";
import type { Candidate, EnvoyJudge } from "./envoy-judge.js";
import type { Judged } from "./judged.js";

/** Asks xdskit and Envoy about each. Both read bytes: what has no form in JSON is asked about too. */
export async function judgeMutants(
  mutants: readonly Mutated[],
  judge: EnvoyJudge,
): Promise<readonly Judged<Mutated>[]> {
  const verdicts = await judge.judge(mutants.map(candidateOf));
  return mutants.map((mutant, index) => ({ of: mutant, ours: ourVerdict(mutant), envoys: verdicts[index]! }));
}

function candidateOf({ type, body, within }: Mutated): Candidate {
  const asked = within ?? { type, body };
  const schema = envoySchema<DescMessage>(asked.type);
  const { name, clusterName } = fromBinary(schema, asked.body) as Message & { name?: string; clusterName?: string };
  return { typeUrl: `type.googleapis.com/${asked.type}`, name: name ?? clusterName ?? "", body: asked.body };
}

/** As `xdskit validate` says it of a file; undefined where the resource is taken. */
function ourVerdict({ type, body }: Mutated): string | undefined {
  const resource = create(AnySchema, { typeUrl: `type.googleapis.com/${type}`, value: body });
  const bytes = response(/\.(?:VirtualHost|LbEndpoint)$/.test(type) ? wrapped(resource) : resource);
  const { findings } = readResources({ path: "mutant.pb", bytes });
  const error = findings.find(({ severity }) => severity === "error");
  if (error === undefined) return undefined;
  return [error.field, error.message, error.rule].filter((part) => part !== undefined).join(": ");
}

/** A resource whose message has no name that it can be asked for by. */
function wrapped(resource: Any): Any {
  const schema = envoySchema<DescMessage>("envoy.service.discovery.v3.Resource");
  const value = toBinary(schema, create(schema, { name: "routes/mutant", resource } as never));
  return create(AnySchema, { typeUrl: `type.googleapis.com/${schema.typeName}`, value });
}

function response(resource: Any): Uint8Array {
  const schema = envoySchema<DescMessage>("envoy.service.discovery.v3.DiscoveryResponse");
  return toBinary(schema, create(schema, { typeUrl: resource.typeUrl, resources: [resource] } as never));
}
