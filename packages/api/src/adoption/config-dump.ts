import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import type { StaticList } from "./bootstrap.js";
import { serversOfBootstrap } from "./config-sources.js";
import { endpointsWantedBy } from "./dump-endpoints.js";
import { adminType, type DumpContext, listOfElement, sectionOf, sections } from "./dump-sections.js";
import { type Form, type FormPart, fieldOf, objectsIn, type Taker, typeOfForm } from "./form.js";

/**
 * The answer of Envoy's admin port to `/config_dump`, whole or one section of it, as `istioctl` and `egctl` print it.
 */
export function configDumpForm(value: JsonValue): Form | undefined {
  if (!isObject(value) || !isDump(value)) return undefined;
  return { name: "an Envoy config dump", isDump: true, take: (taker) => takeDump({ object: value, steps: [] }, taker) };
}

/** Whether an object is a dump or a section of one. */
export function isDump(object: JsonObject): boolean {
  return isWholeDump(object) || sectionOf(object) !== undefined;
}

function isWholeDump(object: JsonObject): boolean {
  const configs = fieldOf(object, "configs");
  if (typeOfForm(object) !== undefined) return adminType(object) === "ConfigDump";
  if (!Array.isArray(configs)) return false;
  return configs.length === 0 || configs.some((config) => isObject(config) && adminType(config) !== undefined);
}

/** Takes a dump or a section of one. */
export function takeDump(dump: FormPart, taker: Taker): void {
  const parts = isWholeDump(dump.object) ? [...objectsIn(dump, "configs", taker)] : [dump];
  takeSections([...elementsAsSections(parts), ...parts], taker);
}

/** Takes the sections of one Envoy. */
export function takeSections(parts: readonly FormPart[], taker: Taker): void {
  const named = parts.map((part) => ({ part, section: sectionOf(part.object) }));
  const clusters = named.filter(({ section }) => section === "ClustersConfigDump").map(({ part }) => part.object);
  const known = new Set<StaticList>();
  for (const { object } of parts) {
    for (const list of ["clusters", "listeners", "secrets"] as const) {
      if (fieldOf(object, `static_${list}`) !== undefined) known.add(list);
    }
  }
  const context: DumpContext = {
    known,
    endpoints: clusters.length === 0 ? undefined : endpointsWantedBy(clusters),
    servers: new Set(parts.flatMap(({ object }) => [...serversOf(object)])),
  };
  for (const { part, section } of named) {
    if (section !== undefined) sections[section]?.(part, taker, context);
    else if (listOfElement(part.object) === undefined) taker.leaveOut("section of another kind", 1);
  }
}

function serversOf(section: JsonObject): ReadonlySet<string> {
  const bootstrap = fieldOf(section, "bootstrap");
  return isObject(bootstrap) ? serversOfBootstrap(bootstrap) : new Set();
}

/** Elements that stand outside of a section get one each, and findings keep their place. */
function* elementsAsSections(parts: readonly FormPart[]): Generator<FormPart> {
  for (const { object, steps } of parts) {
    const list = listOfElement(object);
    if (list !== undefined) yield { object: { [list]: [object] }, steps };
  }
}
