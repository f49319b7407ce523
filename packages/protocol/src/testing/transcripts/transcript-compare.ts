import assert from "node:assert/strict";
import { type Case, describeMode, type Mode } from "./transcript.js";
import type { Ran } from "./transcript-run.js";

/** Fails with the story up to the first step that differs from the case. */
export function compareCase(one: Case, mode: Mode, ran: readonly Ran[]): void {
  const failed = ran.find((one) => !isAsWanted(one, mode));
  if (failed === undefined) return;
  const { step, got } = failed;
  const steps = one.steps.slice(
    0,
    one.steps.findIndex(({ number }) => number === step.number),
  );
  const story = steps.flatMap(({ text, expected }) => [`  ${text}`, ...expected.map((line) => `      ${line.text}`)]);
  const show = (lines: readonly string[]) => lines.map((line) => `      ${line}`).join("\n") || "      (nothing)";
  assert.fail(
    [
      `${one.file}:${step.number} [${describeMode(mode)}] ${one.text}`,
      ...story,
      `> ${step.text}`,
      "    expected:",
      show(wanted(step, mode)),
      "    got:",
      show(got ?? []),
    ].join("\n"),
  );
}

/** Whether the code does at this step what the case says. */
export function isAsWanted({ step, got }: Ran, mode: Mode): boolean {
  return (got ?? []).join("\n") === wanted(step, mode).join("\n");
}

function wanted(step: Case["steps"][number], mode: Mode): readonly string[] {
  return step.expected.map(({ text }) => {
    const line = mode.type === undefined ? text : text.replaceAll("TYPE", mode.type);
    return line.replace(/\s+/g, " ");
  });
}
