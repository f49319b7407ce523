import { Failed } from "../verdicts/verdicts.js";
import { type Driver, type DriverOrder, type DriverSkill, driverMs } from "./driver.js";
import { readDriverAnswer } from "./driver-answer.js";

/** A driver behind a URL: each order is the body of a PUT, and the answer is that of the request. */
export function createUrlDriver(url: string): Driver {
  let skills: ReadonlySet<DriverSkill> = new Set();

  async function ordered(order: DriverOrder): Promise<void> {
    const request = {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(driverMs),
    };
    try {
      const response = await fetch(url, request);
      const text = await response.text();
      if (!response.ok) throw new Failed(`the driver answered with status ${response.status}`);
      skills = readDriverAnswer(text);
    } catch (error) {
      if (error instanceof Failed) throw error;
      throw new Failed(`the driver cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    set: (content) => ordered({ set: content }),
    restart: () => ordered({ restart: true }),
    get skills() {
      return skills;
    },
    close() {},
  };
}
