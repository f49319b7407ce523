import type { ValidateLevel } from "@xdskit/client";
import { Option } from "commander";

/** As the client has them: to load it here would load gRPC. */
const levels = ["full", "types", "off"] as const satisfies readonly ValidateLevel[];

/** How far what a server sends is judged, by commands that only show it or pass it on. */
export function validateOption(): Option {
  const meaning = "reject what is not valid: by the protos' rules too, by its type alone, or nothing (default: types)";
  return new Option("--validate <level>", meaning).choices(levels);
}
