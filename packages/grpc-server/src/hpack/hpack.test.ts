import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import { Http2Connection } from "../connection/http2-connection.js";
import { Slab } from "../connection/output.js";
import type { HttpRequestHead } from "../frames/request-head.js";
import { writeToSocket } from "../sockets/write-to-socket.js";
import { BadHeaderBlock, HeaderDecoder } from "./header-decoder.js";
import { encodeHeaders } from "./header-encoder.js";
import { decodeHuffman } from "./huffman.js";
import type { HeaderField } from "./static-table.js";

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ""), "hex");

describe("an example of RFC 7541", () => {
  const request = (path: string, ...more: HeaderField[]): HeaderField[] => [
    [":method", "GET"],
    [":scheme", path === "/" ? "http" : "https"],
    [":path", path],
    [":authority", "www.example.com"],
    ...more,
  ];
  it("an example is decoded: a literal with indexing, without, never indexed, and an indexed field (C.2)", () => {
    const decoded = (text: string) => new HeaderDecoder().decode(hex(text), 1_000).fields;
    const custom = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    assert.deepEqual(decoded(custom), [["custom-key", "custom-header"]]);
    assert.deepEqual(decoded("040c 2f73 616d 706c 652f 7061 7468"), [[":path", "/sample/path"]]);
    assert.deepEqual(decoded("1008 7061 7373 776f 7264 0673 6563 7265 74"), [["password", "secret"]]);
    assert.deepEqual(decoded("82"), [[":method", "GET"]]);
  });
  for (const [name, blocks] of [
    [
      "C.3: requests without Huffman's code",
      [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
      ],
    ],
    [
      "C.4: the same with it",
      [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
      ],
    ],
  ] as const) {
    it(`an example is decoded: ${name}`, () => {
      const decoder = new HeaderDecoder();
      assert.deepEqual(
        blocks.map((block) => decoder.decode(hex(block), 1_000).fields),
        [
          request("/"),
          request("/", ["cache-control", "no-cache"]),
          request("/index.html", ["custom-key", "custom-value"]),
        ],
      );
    });
  }
  it("an example is decoded: responses, with a table of 256 bytes that drops old fields (C.6)", () => {
    const decoder = new HeaderDecoder(256);
    const first = `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`;
    const location: HeaderField = ["location", "https://www.example.com"];
    const date: HeaderField = ["date", "Mon, 21 Oct 2013 20:13:21 GMT"];
    const [priv]: HeaderField[] = [["cache-control", "private"]];
    assert.deepEqual(decoder.decode(hex(first), 1_000).fields, [[":status", "302"], priv, date, location]);
    // The status replaces the first one, for which the table has no more room.
    assert.deepEqual(decoder.decode(hex("4883 640e ffc1 c0bf"), 1_000).fields, [
      [":status", "307"],
      priv,
      date,
      location,
    ]);
  });
});

describe("a malformed header block", () => {
  for (const [name, block] of [
    ["an index of 0", "80"],
    ["an index beyond the tables", "be"],
    ["a name by an index that does not exist", "7f00 00"],
    ["a string that is longer than the block", "4005 6162"],
    ["a field without its value", "4001 61"],
    ["an integer that does not end", "ff ffff ffff ffff"],
    ["a table larger than was allowed", "3fe1 ff03"],
    ["a new size of the table behind a field", "82 20"],
    ["Huffman's end of string", "4084 ffff fffc 0161"],
    ["padding that is not ones", "4081 1801 61"],
    ["padding of 8 bits", "4082 1fff 0161"],
  ] as const) {
    it(`a malformed header block is refused: ${name}`, () =>
      assert.throws(() => new HeaderDecoder().decode(hex(block), 1_000), BadHeaderBlock));
  }
  it("a malformed header block is only ever refused, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          new HeaderDecoder().decode(bytes, 1_000);
        } catch (error) {
          assert.ok(error instanceof BadHeaderBlock);
        }
        decodeHuffman(bytes);
      }),
    );
  });
  it("a malformed header block is kept only up to the limit if it is too large, and the decoder goes on", () => {
    const decoder = new HeaderDecoder();
    const large = decoder.decode(encodeHeaders(Array.from({ length: 100 }, () => ["x", "y".repeat(100)])), 1_000);
    assert.equal(large.isTooLarge, true);
    assert.ok(large.fields.length < 10);
    assert.deepEqual(decoder.decode(hex("82"), 1_000), { fields: [[":method", "GET"]], isTooLarge: false });
  });
});

test("encoded fields are decoded to the same", () => {
  const text = fc.string({ unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)) });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 20 }), (fields) => {
      assert.deepEqual(new HeaderDecoder().decode(encodeHeaders(fields), 1e9).fields, fields);
    }),
  );
});

test("the requests of Node's own client are read correctly, one after another on one connection", async () => {
  const heads: HttpRequestHead[] = [];
  const server = createServer((socket) => serve(socket, heads)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const value = fc.string({ unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)) });
    const name = fc
      .string({ unit: fc.constantFrom(..."abcdxyz-0"), minLength: 1, maxLength: 6 })
      .map((end) => `x${end}`);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 12, noNullPrototype: true }), async (headers) => {
        heads.length = 0;
        await ask(session, headers);
        assert.deepEqual(Object.fromEntries(heads[0]?.headers ?? []), headers);
      }),
    );
  } finally {
    session.destroy();
    server.close();
  }
});

function serve(socket: Socket, heads: HttpRequestHead[]): void {
  const connection = new Http2Connection(
    {
      slab: new Slab(),
      write: (chunks) => writeToSocket(socket, chunks),
      finish: () => void socket.end(),
      now: () => 0,
      accept(head, stream) {
        heads.push(head);
        stream.end(encodeHeaders([[":status", "204"]]));
        return { data() {}, ended() {}, drained() {}, stopped() {}, closed() {} };
      },
    },
    { streams: 10, headerBytes: 65_536 },
  );
  socket.on("data", (bytes: Buffer) => connection.receive(bytes));
  socket.on("error", () => {});
  socket.on("close", () => connection.closed());
}

async function ask(session: ClientHttp2Session, headers: Record<string, string>): Promise<void> {
  const request = session.request({ ":method": "POST", ":path": "/", ...headers });
  request.end();
  const [response] = await once(request, "response");
  assert.equal(response[":status"], 204);
  request.resume();
  await once(request, "close");
}
