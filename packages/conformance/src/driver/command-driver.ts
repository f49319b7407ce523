import { spawn } from "node:child_process";
import { Failed } from "../verdicts/verdicts.js";
import { type Driver, type DriverOrder, type DriverSkill, driverMs } from "./driver.js";
import { readDriverAnswer } from "./driver-answer.js";

/** The longest line that a driver may answer with. */
const longestLine = 1 << 16;

/**
 * Starts a driver: a command of the shell that reads an order a line and answers each with a line. Its standard error
 * goes to `err`.
 */
export function startCommandDriver(command: string, err: (text: string) => void): Driver {
  // A group of its own, so that what the shell starts ends with it.
  const child = spawn(command, { shell: true, stdio: ["pipe", "pipe", "pipe"], detached: true });
  let rest = "";
  let answered: ((line: string) => void) | undefined;
  let failed: ((error: Failed) => void) | undefined;
  let problem: Failed | undefined;
  let skills: ReadonlySet<DriverSkill> = new Set();
  let lastLength = 0;
  const fail = (message: string): void => {
    problem ??= new Failed(message);
    failed?.(problem);
  };
  child.on("error", (error) => fail(`the driver cannot be started: ${error.message}`));
  // Readers of lines end without a word at one that is too long for them.
  child.on("close", (code, signal) =>
    fail(`the driver ended with ${signal ?? `status ${code}`}; its last order had ${lastLength} characters`),
  );
  child.stdin.on("error", () => {});
  child.stderr.on("data", (text: Buffer) => err(text.toString()));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) fail("the driver's answer is too long");
    for (const line of lines) if (line.trim() !== "") answered?.(line);
  });

  async function ordered(order: DriverOrder): Promise<void> {
    if (problem !== undefined) throw problem;
    let timer: NodeJS.Timeout | undefined;
    try {
      const line = await new Promise<string>((resolve, reject) => {
        [answered, failed] = [resolve, reject];
        timer = setTimeout(() => reject(new Failed(`the driver did not answer within ${driverMs} ms`)), driverMs);
        const line = JSON.stringify(order);
        lastLength = line.length;
        child.stdin.write(`${line}\n`);
      });
      skills = readDriverAnswer(line);
    } finally {
      clearTimeout(timer);
      [answered, failed] = [undefined, undefined];
    }
  }

  return {
    set: (content) => ordered({ set: content }),
    restart: () => ordered({ restart: true }),
    get skills() {
      return skills;
    },
    close() {
      child.stdin.end();
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch {
        // It has ended.
      }
    },
  };
}
