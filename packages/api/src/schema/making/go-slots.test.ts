import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { formatSlots } from "../slots.js";
import { goSlotsIn } from "./go-slots.js";

const folder = mkdtempSync(join(tmpdir(), "go-slots-"));
after(() => rmSync(folder, { recursive: true }));

it("the categories of extensions are read from the comments of generated Go files", () => {
  const field = (name: string, oneofIndex?: number) => ({ name, ...(oneofIndex === undefined ? {} : { oneofIndex }) });
  const file = create(FileDescriptorProtoSchema, {
    name: "acme/a.proto",
    package: "acme",
    messageType: [
      {
        name: "Log",
        field: [field("name"), field("typed_config", 0), field("other", 1)],
        oneofDecl: [{ name: "config_type" }, { name: "rest" }],
        nestedType: [{ name: "Filter", field: [field("extension"), field("plain")] }],
      },
    ],
  });
  const go = `// source: acme/a.proto
type Log struct {
	// A name.
	Name string \`protobuf:"bytes,1,opt,name=name,proto3" json:"name,omitempty"\`
	// Custom configuration.
	// [#extension-category: acme.logs]
	//
	// Types that are valid:
	ConfigType isLog_ConfigType \`protobuf_oneof:"config_type"\`
}

type Log_Other struct {
	// [#extension-category: acme.others]
	Other *anypb.Any \`protobuf:"bytes,3,opt,name=other,proto3,oneof"\`
}

type Log_Filter struct {
	// [#extension-category: acme.filters,acme.late_filters]
	Extension *anypb.Any \`protobuf:"bytes,1,opt,name=extension,proto3"\`
	Plain     string     \`protobuf:"bytes,2,opt,name=plain,proto3"\`
}
`;
  writeFileSync(join(folder, "a.pb.go"), go);
  assert.equal(
    formatSlots(goSlotsIn(folder, [file])),
    `acme.Log.Filter.extension acme.filters acme.late_filters
acme.Log.other acme.others
acme.Log.typed_config acme.logs
`,
  );
});
