import { isAgainst, type Result } from "../run/result.js";

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text of an XML document, without the control characters that none may have. */
function xml(text: string): string {
  return text.replace(/[^\P{C}\t\n\r]/gu, "�").replace(/[&<>"]/g, (one) => entities[one]!);
}

/**
 * The report in JUnit's form. What does not make the run fail is no failure there either: a CI that shows it would be
 * red while the command's status is 0.
 */
export function junitReport(peer: string, results: readonly Result[]): string {
  const cases = results.map((result) => {
    const { check, message = "", transcript, milliseconds } = result;
    const opening = `  <testcase classname="${check.tier}" name="${check.id}" time="${milliseconds / 1_000}"`;
    const inside = elementOf(result);
    if (inside === undefined) return `${opening}/>`;
    const attributes = `${inside} message="${xml(message === "" ? check.says : message)}"`;
    if (inside === "skipped") return `${opening}><${attributes}/></testcase>`;
    const text = [check.says, ...transcript, check.link].map((line) => `${xml(line)}\n`).join("");
    return `${opening}><${attributes}>${text}</${inside}></testcase>`;
  });
  const failures = results.filter(isAgainst).length;
  const skipped = results.filter((result) => elementOf(result) === "skipped").length;
  const counts = `tests="${results.length}" failures="${failures}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="xds-conformance ${xml(peer)}" ${counts}>`,
    ...cases,
    "</testsuite>\n",
  ].join("\n");
}

function elementOf(result: Result): "failure" | "skipped" | undefined {
  if (isAgainst(result)) return "failure";
  return result.status === "passed" ? undefined : "skipped";
}
