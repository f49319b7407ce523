import assert from "node:assert/strict";
import type { Request } from "playwright-core";
import { contentLines } from "../../../packages/api/src/testing/certificates.js";
import type { DashboardPage } from "./browser.js";

/** What a page was told by its server. */
export interface Told {
  /** The path of the request, with its query; of an event: `event`. */
  readonly path: string;
  /** The headers of the answer and its body, or the data of the event. */
  readonly text: string;
}

/** Loads the page anew, and keeps all that it is told from then on: every answer, and every event. */
export async function keepAnswers({ page }: DashboardPage): Promise<() => Promise<readonly Told[]>> {
  const answers: Promise<Told>[] = [];
  const events: Told[] = [];
  const answerTo = async (request: Request): Promise<Told> => {
    const response = await request.response();
    const { pathname, search } = new URL(request.url());
    const body = response === null ? "" : await response.text();
    return { path: pathname + search, text: `${JSON.stringify(response?.headers())}\n${body}` };
  };
  // A browser forgets the answers of a page that it leaves: those of the page before are not asked for.
  const url = page.url();
  await page.goto("about:blank");
  page.on("requestfinished", (request) => {
    const answer = answerTo(request);
    answers.push(answer);
    // It is reported by those who ask for all.
    answer.catch(() => {});
  });
  // The stream of events never ends: the browser's debugger tells each of them.
  const debug = await page.context().newCDPSession(page);
  await debug.send("Network.enable");
  debug.on("Network.eventSourceMessageReceived", ({ data }) => void events.push({ path: "event", text: data }));
  await page.goto(url);
  return async () => [...(await Promise.all(answers)), ...events];
}

/** Fails with each answer that has a part of one of these private keys (PEM) in any form that the API has for bytes. */
export function mustNotTell(keys: readonly string[], told: readonly Told[]): void {
  const lines = keys.flatMap(contentLines);
  // Base64 takes three bytes at a time, and a line may begin at any of them.
  const encoded = lines.flatMap((line) =>
    [0, 1, 2].map((start) => Buffer.from(line.slice(start, 48)).toString("base64")),
  );
  const signs = ["PRIVATE KEY", ...lines, ...encoded.map((text) => text.slice(0, 40))];
  const leaks = told.filter(({ text }) => signs.some((sign) => text.includes(sign)));
  assert.deepEqual(
    leaks.map(({ path, text }) => `${path}: ${text.slice(0, 2_000)}`),
    [],
  );
}
