import type { Finding } from "@xdskit/api";
import { objectKey } from "./object-shape.js";

/** Who we are in Events and in the status of objects. */
export const controllerName = "xdskit.github.io/xdskit";

/** An object of Kubernetes, as an Event names it. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Tells it from one of this name that was deleted; undefined: nobody says. */
  readonly uid: string | undefined;
}

/** An annotation, or a field, of a Service that is not used. */
export interface PolicyFault {
  readonly annotation: string;
  readonly message: string;
}

/** What the owner of an object should know: a part of it is not used. */
export interface ObjectFault {
  readonly object: ObjectName;
  /** One word for the kind of fault, such as `WrongAnnotation`. */
  readonly reason: string;
  /** The annotation, the field or the key; empty: all of it. */
  readonly field: string;
  readonly message: string;
  /** The same as whoever read it says it; undefined: it is a warning. */
  readonly finding?: Finding | undefined;
}

/** `Service shop/cart`: names an object among those of several kinds, and in findings. */
export function textOfObject({ kind, namespace, name }: Omit<ObjectName, "apiVersion" | "uid">): string {
  return `${kind} ${objectKey({ namespace, name })}`;
}
