import assert from "node:assert/strict";
import { test } from "node:test";
import { clientOptionsFromBootstrap } from "../bootstrap/bootstrap.js";
import { createClient } from "../create-client.js";
import { clientOptions } from "./option-tables.js";

// As a program without types would call it.
const anything = (value: unknown) => value as never;
const node = { id: "me" };

test("a call with wrong options is refused with the probable meaning, in a program without types too", async () => {
  const client = createClient({ servers: ["127.0.0.1:1"], node });
  const made = (options: unknown) => () => createClient(anything(options));
  const wrong: readonly (readonly [() => unknown, RegExp])[] = [
    [
      () => (createClient as (...none: readonly []) => unknown)(),
      /^createClient takes .* { servers: \[.*, not nothing/,
    ],
    [made("127.0.0.1:18000"), /^createClient takes an object, such as .*, not a string/],
    [made({ server: ["127.0.0.1:1"], node }), /^createClient: .* "server"; did you mean "servers"\?/],
    [made({ servers: "127.0.0.1:1", node }), /^createClient: servers must be a list, not a string/],
    [made({ servers: ["127.0.0.1:1"] }), /^createClient: node takes an object, such as { id: "me"/],
    [made({ servers: ["127.0.0.1:1"], node: "me" }), /^createClient: node must be an object, not a string/],
    [
      made({ servers: [], node }),
      /^servers: servers is \[\], and has to be a list of servers, such as \["127.0.0.1:18000"\]/,
    ],
    [
      made({ node, authorities: { a: { servers: [] } } }),
      /^servers: servers is undefined, and has to be a list of servers/,
    ],
    [
      made({ servers: [{ kind: "grpc", address: "http://127.0.0.1:1" }], node }),
      /^servers: over gRPC the address is HOST:PORT, without http/,
    ],
    [made({ servers: ["127.0.0.1:1"], node, types: {} }), /^types must be what createResourceTypes .* returns/],
    [made({ servers: ["127.0.0.1:1"], node, registry: {} }), /^registry must be what createRegistry .* returns/],
    [made({ servers: [], node: { id: "me", clsuter: "a" } }), /"clsuter"; did you mean "cluster"\?/],
    [made({ servers: [{ address: "127.0.0.1:1" }], node }), /^servers: .*servers are of kind grpc, rest or files/],
    [made({ servers: [5], node }), /servers are of kind grpc, rest or files.*write "127.0.0.1:18000"/],
    [
      made({ servers: [{ kind: "grpc", adress: "127.0.0.1:1" }], node }),
      /kind grpc: .*"adress"; did you mean "address"/,
    ],
    [made({ servers: [{ kind: "grpc" }], node }), /a server over gRPC needs an address/],
    [made({ servers: [{ kind: "files" }], node }), /at least one file/],
    [
      () => client.watch("cluster", "web", anything({ onChange: () => {} })),
      /^client.watch takes a watcher, .*onChanged/,
    ],
    [() => client.watch(anything(undefined), "web"), /a type is a string, such as "cluster"/],
    [() => client.watchCollection("cluster", "*", anything(undefined)), /^client.watchCollection takes a watcher/],
    [() => client.watchConfig("web", anything({ onChange: () => {} })), /^client.watchConfig: .* "onChange"/],
    [
      () => client.get("cluster", "web", anything({ timeoutMs: 5 })),
      /^client.get: .* "timeoutMs"; did you mean "timeout"/,
    ],
    [() => client.on(anything("event")), /^client.on takes a function/],
    [
      () => clientOptionsFromBootstrap(anything({ file: "a" })),
      /^clientOptionsFromBootstrap: .* "file"; there is path/,
    ],
  ];
  for (const [call, message] of wrong) {
    await assert.rejects(
      async () => call(),
      (error: Error & { readonly code?: string }) => {
        assert.equal(error.code, "XDSKIT_CLIENT_OPTION");
        assert.match(error.message, message);
        return true;
      },
    );
  }
  await client.close();
});

test("every option of createClient is refused by its name if its value is of no kind that it takes", async () => {
  const servers = ["127.0.0.1:1"];
  for (const option of Object.keys(clientOptions)) {
    assert.throws(() => createClient(anything({ servers, node, [option]: Symbol("S3CR3T") })), {
      code: "XDSKIT_CLIENT_OPTION",
      message: new RegExp(`^createClient: ${option} must be .*, not a symbol`),
    });
  }
});

test("a type or a name that cannot be is refused with the type that was probably meant", async () => {
  const client = createClient({ servers: ["127.0.0.1:1"], node });
  const unknown = {
    code: "XDSKIT_TYPE_NAME_UNKNOWN",
    message: /^there is no type "clutser"; did you mean "cluster"\?/,
  };
  assert.throws(() => client.watch(anything("clutser"), "web"), unknown);
  await assert.rejects(async () => client.get(anything("clutser"), "web"), unknown);
  for (const name of [5, undefined, null])
    assert.throws(() => client.watch("cluster", anything(name)), {
      code: "XDSKIT_CLIENT_OPTION",
      message: /^a cluster has a name, such as "web"/,
    });
  await client.close();
});
