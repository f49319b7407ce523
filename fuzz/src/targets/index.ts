import type { FuzzTarget } from "../kit/target.js";
import { files } from "./files.js";
import { settings } from "./settings.js";
import { stream } from "./stream.js";

/** All that is fuzzed. */
export const targets: readonly FuzzTarget[] = [files, settings, stream];
