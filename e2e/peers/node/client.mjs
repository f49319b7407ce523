// Calls an xds:/// target over and over and prints a line for each call: "ok NAME" or "fail CODE MESSAGE".
// The third argument is a header that each call has: NAME=VALUE.
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { register } from "@grpc/grpc-js-xds";

register();
const [target, interval, header = ""] = process.argv.slice(2);
const metadata = new Metadata();
if (header !== "") metadata.set(...header.split("="));
const client = new Client(target, credentials.createInsecure());
process.stdin.on("end", () => process.exit(0)).resume();

const bytes = (value) => value;
function call() {
  const deadline = Date.now() + 10_000;
  client.makeUnaryRequest(
    "/xdskit.e2e.Echo/Name",
    bytes,
    bytes,
    Buffer.alloc(0),
    metadata,
    { deadline },
    (error, reply) => {
      // A google.protobuf.StringValue shorter than 128 bytes: a tag, a length, the text.
      if (error) console.log(`fail ${status[error.code]} ${JSON.stringify(error.details)}`);
      else console.log(`ok ${reply.subarray(2).toString()}`);
      setTimeout(call, Number(interval));
    },
  );
}
call();
