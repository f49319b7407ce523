import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { create, getOption } from "@bufbuild/protobuf";
import { validateMessage } from "../index.js";
import { formatPackage } from "./making/table-text.js";
import { packageFolder, readTable, registryOf } from "./table.js";

const table = readTable();
const registry = registryOf(table);

describe("the table of Envoy's API", () => {
  it("the table is the same after it is read and written again", () => {
    const ofProtobuf = ({ name }: { readonly name: string }) => name.startsWith("google/protobuf/");
    for (const name of new Set(table.filter((file) => !ofProtobuf(file)).map((file) => file.package))) {
      const text = readFileSync(new URL(`${name}.json`, packageFolder), "utf8");
      const files = table.filter((file) => file.package === name);
      assert.equal(formatPackage(files, registry), text);
    }
  });

  it("the table gives descriptors with the rules that messages are validated by", () => {
    const cluster = registry.getMessage("envoy.config.cluster.v3.Cluster");
    assert.ok(cluster);
    const fields = validateMessage(create(cluster), { registry }).map(({ field }) => field);
    assert.deepEqual(fields, ["name"]);
  });

  it("the table has the names of v2, and marks sensitive and deprecated parts", () => {
    const option = (name: string) => {
      const extension = registry.getExtension(name);
      assert.ok(extension, name);
      return extension;
    };
    const field = (message: string, name: string) => {
      const found = registry.getMessage(message)?.fields.find((each) => each.name === name);
      assert.ok(found, `${message}.${name}`);
      return found;
    };
    const cluster = registry.getMessage("envoy.config.cluster.v3.Cluster");
    assert.ok(cluster);
    const { previousMessageType } = getOption(cluster, option("udpa.annotations.versioning")) as never;
    assert.equal(previousMessageType, "envoy.api.v2.Cluster");
    const password = field("envoy.extensions.transport_sockets.tls.v3.TlsCertificate", "password");
    assert.equal(getOption(password, option("udpa.annotations.sensitive")), true);
    const dnsRate = field("envoy.config.cluster.v3.Cluster", "dns_refresh_rate");
    assert.equal(dnsRate.proto.options?.deprecated, true);
    assert.equal(getOption(dnsRate, option("envoy.annotations.deprecated_at_minor_version")), "3.0");
  });
});
