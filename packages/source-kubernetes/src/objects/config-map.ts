import { resourceFileForm } from "@xdskit/api";
import type { ObjectShape } from "./object-shape.js";

/** The annotation that says which folder the files are in. */
export const folderAnnotation = "xdskit.github.io/folder";

/** A ConfigMap whose keys are resource files. */
export interface ConfigMap {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** As groups name it; undefined: all groups have the files. */
  readonly folder: string | undefined;
  readonly files: readonly ConfigMapFile[];
}

/** A key with what it holds: text, or bytes as base64. */
export interface ConfigMapFile {
  readonly name: string;
  readonly text: string;
  readonly encoding: "utf8" | "base64";
}

interface ConfigMapShape extends ObjectShape {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Reads a ConfigMap, as the API server writes it. As in a folder, other files and dot files are left alone. */
export function readConfigMap(object: ObjectShape): ConfigMap {
  const { metadata: { namespace = "", name = "", uid, annotations } = {}, data, binaryData } = object as ConfigMapShape;
  const files = (of: ConfigMapShape["data"], encoding: ConfigMapFile["encoding"]) =>
    Object.entries(of ?? {})
      .filter(([key]) => !key.startsWith(".") && resourceFileForm(key) !== undefined)
      .map(([key, text]) => ({ name: key, text, encoding }));
  const all = [...files(data, "utf8"), ...files(binaryData, "base64")];
  return {
    namespace,
    name,
    uid,
    folder: annotations?.[folderAnnotation]?.replace(/\/+$/, "") || undefined,
    files: all.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
