import { type ApiVersion, type ResourceType, resourceTypes } from "@xdskit/api";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import { wordOf } from "../sample-resources.js";
import { type Case, describeMode, type Mode } from "./transcript.js";

/** The combinations of type, ADS or its own service, variant and API version that no case asks for. */
export function missingTypes(cases: readonly Case[]): readonly string[] {
  const seen = new Set(cases.flatMap((one) => one.modes.flatMap((mode) => asked(one, mode))));
  return [...resourceTypes].flatMap(waysOf).filter((way) => !seen.has(way));
}

function asked({ steps }: Case, mode: Mode): readonly string[] {
  const words = steps.flatMap(({ text }) => {
    const [, word] = /^[a-z]*> (\S+)/.exec(text) ?? [];
    return word === undefined ? [] : [word === "TYPE" ? (mode.type ?? word) : word];
  });
  return words.map((type) => describeMode({ ...mode, type }));
}

function waysOf(type: ResourceType): readonly string[] {
  const word = wordOf(type.typeUrl)?.word;
  if (word === undefined) return [`${type.name}, which transcripts have no word for`];
  return (["v3", "v2"] satisfies ApiVersion[]).flatMap((api) => {
    if (api === "v2" && type.v2TypeUrl === undefined) return [];
    const service = type.services[api];
    // A type without its own service is served on ADS, by SotW and by delta.
    const variants: readonly SotwOrDelta[] =
      service !== undefined && service.stream === undefined ? ["delta"] : ["sotw", "delta"];
    const streams = service === undefined ? [true] : [true, false];
    return variants.flatMap((variant) => streams.map((ads) => describeMode({ variant, ads, api, type: word })));
  });
}
