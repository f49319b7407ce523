import type { KernelOptions } from "./kernel-options.js";
import type { Part } from "./parts/part.js";

/** All of it may be left out. */
export interface ServerOptions extends KernelOptions {
  /** What the server is made of beside its kernel. Default: `defaultParts`; those that are left out are not there. */
  readonly parts?: readonly Part[] | undefined;
}
