import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import { isDump, takeDump } from "./config-dump.js";
import { type Form, fieldOf, type Taker } from "./form.js";

/** The dumps of pods, by namespace and name, as `egctl config envoy-proxy` prints them. */
export function podDumpsForm(value: JsonValue): Form | undefined {
  if (!isObject(value) || !hasOnly(value, (pods) => hasOnly(pods, isDump))) return undefined;
  return {
    name: "the output of egctl config envoy-proxy",
    isDump: true,
    take(taker) {
      for (const namespace of Object.keys(value)) takeEach(value[namespace], [namespace], taker);
    },
  };
}

/** The output of `egctl x translate`: its input, and a dump for each gateway under `xds`. */
export function translationForm(value: JsonValue): Form | undefined {
  const xds = isObject(value) ? fieldOf(value, "xds") : undefined;
  if (!isObject(value) || value["@type"] !== undefined || !isObject(xds) || !hasOnly(xds, isDump)) return undefined;
  return {
    name: "the output of egctl x translate",
    isDump: true,
    take(taker) {
      takeEach(xds, ["xds"], taker);
      for (const key of Object.keys(value)) if (key !== "xds") taker.leaveOut(key);
    },
  };
}

function takeEach(dumps: JsonValue | undefined, steps: readonly string[], taker: Taker): void {
  if (!isObject(dumps)) return;
  for (const name of Object.keys(dumps)) {
    const dump = dumps[name];
    if (isObject(dump)) takeDump({ object: dump, steps: [...steps, { key: name }] }, taker);
  }
}

function hasOnly(object: JsonObject, test: (value: JsonObject) => boolean): boolean {
  const keys = Object.keys(object);
  return keys.length > 0 && keys.every((key) => isObject(object[key]) && test(object[key] as JsonObject));
}
