import type { ValidateLevel } from "@xdskit/client";
import { Option } from "commander";

/** The client's levels: importing them here would load gRPC. */
const levels = ["full", "types", "off"] as const satisfies readonly ValidateLevel[];

/** How strictly to check resources, for commands that only show them or pass them on. */
export function validateOption(): Option {
  const meaning =
    "what makes a resource invalid: full: also the protos' rules; types: only its type; off: nothing (default: types)";
  return new Option("--validate <level>", meaning).choices(levels);
}
