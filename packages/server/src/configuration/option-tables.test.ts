import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer } from "../create-server.js";
import { createFolderSource } from "../sources/folder/folder-source.js";
import { cluster } from "../testing/test-resources.js";
import { serverOptions } from "./option-tables.js";

// As a program without types would call it.
const anything = (value: unknown) => value as never;

test("a call with wrong options is refused with the probable meaning, in a program without types too", async () => {
  const server = createServer();
  const one = cluster("web");
  const wrong: readonly (readonly [() => unknown, RegExp])[] = [
    [() => createServer(anything({ group: [] })), /^createServer: there is no option "group"; did you mean "groups"\?/],
    [() => createServer(anything([])), /^createServer takes an object, such as { groups: .*, not a list/],
    [() => createServer(anything({ groups: {} })), /^createServer: groups must be a list or a function, not an object/],
    [() => createServer(anything({ limits: { stream: 5 } })), /"limits.stream"; did you mean "streams"\?/],
    [() => createServer(anything({ groups: [{ layer: "a" }] })), /"groups\[0\].layer"; did you mean "layers"\?/],
    [() => createServer(anything({ types: {} })), /^types must be what createResourceTypes .* returns, not an object/],
    [() => createServer(anything({ registry: {} })), /^registry must be what createRegistry .* returns, not an object/],
    [
      () => server.listen(anything("127.0.0.1:18000")),
      /^server.listen takes .* { grpc: "127.0.0.1:18000" }, not a str/,
    ],
    [() => server.listen(anything({ grcp: "127.0.0.1:0" })), /^server.listen: .* "grcp"; did you mean "grpc"\?/],
    [() => server.listen({}), /^server.listen: give an address of grpc or rest, such as { grpc: "127.0.0.1:18000" }/],
    [() => server.listen(anything({ grpc: undefined })), /^server.listen: give an address of grpc or rest/],
    [() => server.listen(anything({ grpc: 18_000 })), /^server.listen: grpc must be a string, not a number/],
    [() => server.config.update(anything({ upserts: [] })), /^config.update: .* "upserts"; did you mean "upsert"\?/],
    [() => server.config.update(anything({ upsert: one })), /^config.update takes lists, .*not one envoy.*\.Cluster/],
    [
      () => server.config.set(anything(one)),
      /^config.set takes a list of resources, such as \[cluster\], not one envoy/,
    ],
    [() => server.config.set(anything("web")), /^config.set takes a list of resources, .* not a string/],
    [() => server.config.set([], anything({ roll: "off" })), /the options of a change: .* "roll"/],
    [() => server.config.remove(anything("web")), /^config.remove takes an object, such as { type: "cluster"/],
    [() => server.addSource(anything("config")), /^server.addSource takes a source, such as createFolderSource/],
    [() => server.nodes(anything({ groups: "edge" })), /^server.nodes: .* "groups"; did you mean "group"\?/],
    [() => server.eachNode(anything({ state: "synced" })), /^server.eachNode: there is no option "state"/],
    [() => server.on(anything("event")), /^server.on takes a function/],
    [() => server.close(anything({ timeout: 5 })), /^server.close: .* "timeout"; did you mean "timeoutMs"/],
    [
      () => server.config.set([]).done(anything({ timeoutMs: 5 })),
      /^arrival.done: .* "timeoutMs"; did you mean "timeout"/,
    ],
  ];
  for (const [call, message] of wrong) {
    await assert.rejects(async () => call(), { code: "XDSKIT_SERVER_OPTION", message });
  }
  const folder = { code: "XDSKIT_FOLDER_OPTION", message: /^createFolderSource takes an object, such as { directory/ };
  assert.throws(() => createFolderSource(anything("config")), folder);
  assert.throws(() => createFolderSource(anything({})), /createFolderSource needs a directory/);
  await server.close();
});

test("every option of createServer is refused by its name if its value is of no kind that it takes", () => {
  const options = Object.keys(serverOptions);
  assert.ok(options.length > 20);
  for (const option of options) {
    assert.throws(() => createServer(anything({ [option]: Symbol("S3CR3T") })), {
      code: "XDSKIT_SERVER_OPTION",
      message: new RegExp(`^createServer: ${option} must be .*, not a symbol`),
    });
  }
});

test("a value inside an option is refused by its place, in a program without types too", () => {
  const group = { name: "a", match: {}, layers: ["default"] };
  for (const [options, message] of [
    [{ groups: [{ name: "a" }] }, /^groups\[0\]\.match: a group needs it: its nodes, such as { cluster: "edge-\*" }/],
    [{ groups: ["a"] }, /groups\[0\] must be an object, not a string/],
    [{ groups: [{ ...group, rollout: { steps: ["10%"] } }] }, /groups\[0\]\.rollout\.steps\[0\] must be an object/],
    [{ rollout: { steps: [{ percnet: 5 }] } }, /"rollout\.steps\[0\]\.percnet"; did you mean "percent"/],
    [{ identities: [{}] }, /identities\[0\]\.when is missing/],
    [{ authorities: [5] }, /authorities\[0\] must be a string, not a number/],
    [{ referencesExcept: [5] }, /referencesExcept\[0\] must be a string, not a number/],
    [{ parts: [5] }, /parts\[0\] must be a function, not a number/],
    [{ clock: {} }, /clock must have a function "now"/],
    [{ limits: { streams: -5 } }, /limits\.streams must be a number from 0 up, not a negative number/],
    [{ limits: { streams: Number.NaN } }, /limits\.streams must be a number from 0 up, not NaN/],
    [{ defaultNode: { cluster: 5 } }, /defaultNode\.cluster must be a string, not a number/],
    [{ onDemand: { types: ["clutser"], supply() {} } }, /there is no type "clutser"; did you mean "cluster"\?/],
  ] as const) {
    assert.throws(() => createServer(anything(options)), { name: "XdskitError", message });
  }
});
