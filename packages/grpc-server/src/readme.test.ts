import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { GrpcServer } from "./grpc-server.js";
import { framed } from "./messages/framing.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const readme = readFileSync(join(root, "packages/grpc-server/README.md"), "utf8");
const code = /```js\n(.*?)```/s.exec(readme)?.[1] ?? "";

/** The code as a module. It lies in the repository, so that Node finds the package that it imports. */
async function loadExample(): Promise<{ readonly server: GrpcServer; readonly port: number }> {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache/readme-"));
  try {
    writeFileSync(join(folder, "example.mjs"), code);
    return await import(pathToFileURL(join(folder, "example.mjs")).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Calls `Talk` with one message; resolves to the body and the status. */
async function talk(port: number, authorization: string): Promise<readonly [body: string, status: unknown]> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    return await new Promise((resolve, reject) => {
      const headers = { "content-type": "application/grpc", te: "trailers", authorization };
      const stream = session.request({ ":method": "POST", ":path": "/demo.Echo/Talk", ...headers });
      let status: unknown;
      const body: Buffer[] = [];
      stream.on("response", (head) => {
        status = head["grpc-status"];
      });
      stream.on("trailers", (trailers) => {
        status = trailers["grpc-status"];
      });
      stream.on("data", (bytes: Buffer) => body.push(bytes));
      stream.on("error", reject);
      stream.on("close", () => resolve([Buffer.concat(body).toString(), status]));
      stream.end(framed(Buffer.from("hello")));
    });
  } finally {
    session.close();
  }
}

describe("README.md", () => {
  it("README.md has an example of an echo that asks for the caller", async () => {
    const { server, port } = await loadExample();
    try {
      assert.deepEqual(await talk(port, "Bearer let-me-in"), [framed(Buffer.from("hello")).toString(), "0"]);
      assert.deepEqual(await talk(port, "Bearer nobody"), ["", "16"]);
    } finally {
      await server.close(1_000);
    }
  });

  it("README.md names tests that exist", () => {
    const files = [...readme.matchAll(/`([\w/.-]+\.(?:test\.)?ts)`/g)].map(([, file = ""]) => file);
    assert.ok(files.length > 10);
    for (const file of files) {
      const path = file.startsWith("src/") ? join("packages/grpc-server", file) : file;
      assert.ok(existsSync(join(root, path)), file);
    }
    const titles = [...readme.matchAll(/`([\w/.-]+\.test\.ts)`, ((?:"[^"]+"(?:, )?)+)/g)];
    assert.ok(titles.length > 5);
    for (const [, file = "", quoted = ""] of titles) {
      const path = file.startsWith("src/") ? join("packages/grpc-server", file) : file;
      const text = readFileSync(join(root, path), "utf8");
      for (const [, title = ""] of quoted.matchAll(/"([^"]+)"/g)) {
        assert.ok(text.includes(title.replace(/ …$/, "")), `${file}: ${title}`);
      }
    }
  });
});
