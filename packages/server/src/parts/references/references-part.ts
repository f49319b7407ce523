import { createDanglingNames } from "@xdskit/protocol";
import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { ReferenceJudge } from "./reference-judge.js";
import { UnknownNameJudge } from "./unknown-names.js";

/** Refuses changes that break references, or that bring names that nobody has (`references`). */
export function referencesPart(kernel: Kernel): PluggedPart {
  return {
    judges: [new ReferenceJudge(kernel), new UnknownNameJudge(kernel)],
    answers: { danglingNames: (group) => kernel.layers.indexOf(group, createDanglingNames) },
  };
}
