import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Failed } from "../verdicts/verdicts.js";
import { startCommandDriver } from "./command-driver.js";
import { createUrlDriver } from "./url-driver.js";

const content = { "type.googleapis.com/a.B": { x: { name: "x" } } };

/** A command of the shell that runs a program of Node. */
const node = (program: string) => `'${process.execPath}' -e '${program}'`;
const answering = (answer: string) =>
  node(`require("readline").createInterface({input:process.stdin}).on("line",(line)=>{${answer}})`);

test("a command gets an order a line, and answers each", async () => {
  const program = answering(
    "const order=JSON.parse(line);console.error(line);" +
      "console.log(JSON.stringify({ok:order.restart===true||order.set['type.googleapis.com/a.B'].x.name==='x',can:['restart','fly']}))".replaceAll(
        "'",
        '"',
      ),
  );
  const errors: string[] = [];
  const driver = startCommandDriver(program, (text) => errors.push(text));
  assert.deepEqual([...driver.skills], []);
  await driver.set(content);
  assert.deepEqual([...driver.skills], ["restart"]);
  await driver.restart();
  const lines = () => errors.join("").trim().split("\n");
  // They come by another pipe than the answers, perhaps a moment later.
  for (let waited = 0; lines().length < 2 && waited < 10_000; waited += 10) await sleep(10);
  driver.close();
  assert.deepEqual(
    lines().map((line) => JSON.parse(line)),
    [{ set: content }, { restart: true }],
  );
});

test("a command that says no, says nonsense, or ends, fails what asked for it", async () => {
  const bad: readonly (readonly [string, RegExp])[] = [
    [
      answering('console.log(JSON.stringify({ok:false,error:"no such type"}))'),
      /the driver could not do it: no such type/,
    ],
    [answering('console.log("done")'), /the driver answered no JSON: done/],
    [answering("process.exit(3)"), /the driver ended with status 3/],
    ["no-such-command-anywhere", /the driver ended with status 127/],
  ];
  for (const [command, expected] of bad) {
    const driver = startCommandDriver(command, () => {});
    await assert.rejects(driver.set(content), (error) => error instanceof Failed && expected.test(error.message));
    driver.close();
  }
});

test("a URL gets each order by PUT", async (t) => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (text) => {
      body += text;
    });
    request.on("end", () => {
      bodies.push(`${request.method} ${body}`);
      if (bodies.length === 2) response.writeHead(503);
      response.end(JSON.stringify({ ok: true }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const driver = createUrlDriver(url);
  await driver.set(content);
  assert.deepEqual(bodies, [`PUT ${JSON.stringify({ set: content })}`]);
  await assert.rejects(driver.set(content), /the driver answered with status 503/);
  await assert.rejects(createUrlDriver("http://127.0.0.1:1/").set(content), /the driver cannot be reached/);
});
