import assert from "node:assert/strict";
import { it } from "node:test";
import { fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { envoyRegistry, resourceTypes, validateMessage } from "@xdskit/api";
import {
  aggregateCluster,
  assignment,
  edsCluster,
  httpChain,
  routes,
  socketListener,
  tcpChain,
} from "../testing/config-messages.js";
import { createScriptedClient } from "../testing/scripted/scripted-client.js";
import { createWatchConfig } from "./watch-config.js";

const registry = envoyRegistry();
const listener = socketListener("l", httpChain("http", "r"), tcpChain("tcp", "a"), httpChain("own", routes("in", "b")));
/** A complete world. The rest of a resource stays, whatever is taken out of it. */
const world: readonly Message[] = [
  listener,
  routes("r", "a", "c"),
  edsCluster("a", "a-endpoints"),
  edsCluster("b"),
  aggregateCluster("c", "a", "b"),
  assignment("a-endpoints", 1, 2),
  assignment("b", 3),
];

/** The same message with one field less, or with one empty text or list; for each of them. */
function* mutants(message: Message): Iterable<Message> {
  for (const mutant of lesser(jsonOf(message))) {
    try {
      yield fromJson(schemaOf(message), mutant, { registry });
    } catch {
      // Such as an `Any` without a type, which no bytes express.
    }
  }
}

function* lesser(json: JsonValue): Iterable<JsonValue> {
  if (typeof json === "string") yield "";
  if (typeof json !== "object" || json === null) return;
  if (Array.isArray(json)) {
    yield [];
    for (const [index, item] of json.entries()) for (const less of lesser(item)) yield json.toSpliced(index, 1, less);
    return;
  }
  for (const [key, value] of Object.entries(json)) {
    if (key === "@type") continue;
    const { [key]: _, ...without } = json;
    yield without;
    for (const less of lesser(value)) yield { ...without, [key]: less };
  }
}

it("a configuration with broken resources is followed as far as it leads, and ends in a configuration or an error", async () => {
  let broken = 0;
  for (const [index, original] of world.entries()) {
    for (const mutant of mutants(original)) {
      if (nameOf(mutant) === "") continue;
      if (validateMessage(mutant).length > 0) broken += 1;
      const client = createScriptedClient();
      const failures: unknown[] = [];
      const told: string[] = [];
      const watch = createWatchConfig({ client, failed: (error) => void failures.push(error) })("l", {
        onChanged: () => void told.push("changed"),
        onError: ({ code }) => void told.push(code),
      });
      for (const message of world.with(index, mutant)) await client.give(message);
      // The other names of a broken resource do not exist.
      for (const key of client.watched) {
        const [type = "", name = ""] = key.split(" ");
        if (!world.some((message) => keyOf(message) === key)) await client.fail(type, name);
      }
      for (const message of world.with(index, mutant)) await client.give(message);
      const where = JSON.stringify(jsonOf(mutant));
      assert.deepEqual(failures, [], where);
      assert.ok(told.length > 0, `nothing was told: ${where}`);
      watch.cancel();
      assert.deepEqual(client.watched, []);
    }
  }
  assert.ok(broken > 10, "too few of them break a rule to show anything");
});

const schemaOf = ({ $typeName }: Message) => registry.getMessage($typeName) ?? assert.fail($typeName);
const jsonOf = (message: Message) => toJson(schemaOf(message), message, { registry });
const nameOf = (message: Message) =>
  (message as { clusterName?: string }).clusterName ?? (message as { name?: string }).name;

/** `cluster a`, as the client's watches are called. */
function keyOf(message: Message): string {
  return `${resourceTypes.byTypeUrl(`type.googleapis.com/${message.$typeName}`)?.type.name} ${nameOf(message)}`;
}
