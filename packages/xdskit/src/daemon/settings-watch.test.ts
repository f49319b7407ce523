import assert from "node:assert/strict";
import { join } from "node:path";
import { it, suite } from "node:test";
import type { Log, LogEvent } from "@xdskit/admin/log";
import { describe, XdskitError } from "@xdskit/api";
import { loadRelaySettings, loadSettings, type SettingsOnDisk } from "../settings/load-settings.js";
import { eventually } from "../testing/command.js";
import { testFolder } from "../testing/folder.js";
import { watchSettings } from "./settings-watch.js";

function following(disk: SettingsOnDisk | undefined): {
  readonly lines: string[];
  readonly watch: ReturnType<typeof watchSettings>;
  readonly close: () => Promise<void>;
} {
  const lines: string[] = [];
  const at = (level: string) => (_: LogEvent, __: object, message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const watch = watchSettings(disk, log, undefined, 20);
  return { lines, watch, close: () => watch.close() };
}

const restart = "warn the settings file has changed: restart to use the new settings";
const fails = "error the settings file has errors: a restart would fail; the settings in use stay";
const gone = "warn the settings file is gone: the next start will use the defaults";
const again = "info the settings file is as it was at the start again";

suite("a settings file that is edited while a command runs", () => {
  it("causes one line for each edit: that a restart is needed, or the mistake", async () => {
    await using folder = await testFolder({ "xdskit.yaml": "limits: { streams: 10 }\n" });
    const file = join(folder.path, "xdskit.yaml");
    const { lines, watch, close } = following((await loadSettings(folder.path, undefined)).disk);
    const edits: readonly (readonly [text: string | undefined, told: readonly string[]])[] = [
      ["limits: { streams: 11 }\n", [restart]],
      ["colour: blue\n", [`error ${file}:1:1: colour: there is no such setting [XDSKIT_SETTINGS_INVALID]`, fails]],
      [undefined, [gone]],
      ["limits: { streams: 10 }\n", [again]],
    ];
    for (const [text, told] of edits) {
      lines.length = 0;
      if (text === undefined) await folder.remove("xdskit.yaml");
      else await folder.write("xdskit.yaml", text);
      await eventually(
        async () => lines.length,
        (count) => count >= told.length,
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.deepEqual(lines, told);
      const wrong = watch.wrong?.findings.map((finding) => `error ${describe(finding)}`);
      assert.deepEqual(wrong, told.includes(fails) ? told.slice(0, -1) : undefined);
    }
    await close();
  });

  it("is followed if there was none at the start, if it was named, and for a relay", async () => {
    await using folder = await testFolder({ "named.yaml": "ttl: always\n", "relay.yaml": "ttl: always\n" });
    for (const [name, { disk }] of [
      ["xdskit.yaml", await loadSettings(folder.path, undefined)],
      ["named.yaml", await loadSettings(folder.path, join(folder.path, "named.yaml"))],
      ["relay.yaml", await loadRelaySettings(join(folder.path, "relay.yaml"))],
    ] as const) {
      const { lines, close } = following(disk);
      await folder.write(name, "ttl: advertised\n");
      await eventually(
        async () => lines,
        ([line]) => line === restart,
      );
      await close();
    }
    assert.equal((await loadRelaySettings(undefined)).disk, undefined);
  });

  it("does not end the command if it cannot be checked", async () => {
    await using folder = await testFolder({ "xdskit.yaml": "ttl: always\n" });
    const check = () => Promise.reject(new Error("the program is gone"));
    const { lines, close } = following({ file: join(folder.path, "xdskit.yaml"), text: "", check });
    await eventually(
      async () => lines,
      (told) => told.length === 2,
    );
    assert.match(lines[0] ?? "", /^error .*they cannot be checked: the program is gone/);
    assert.equal(lines[1], fails);
    await close();
  });

  it("causes lines about keys in use, keys that need a restart, and keys that could not be applied yet", async () => {
    await using folder = await testFolder({ "xdskit.yaml": "ttl: always\n" });
    const lines: string[] = [];
    const at = (level: string) => (_: LogEvent, __: object, message: string) => void lines.push(`${level} ${message}`);
    const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
    let tries = 0;
    const watch = watchSettings(
      (await loadSettings(folder.path, undefined)).disk,
      log,
      async () => {
        tries += 1;
        if (tries < 3) throw XdskitError.of("XDSKIT_FOLDER_MISSING", "not yet");
        return { applied: ["groups", "references"], restart: ["tls"] };
      },
      10,
    );
    await folder.write("xdskit.yaml", "ttl: advertised\n");
    await eventually(
      async () => lines.length,
      (count) => count >= 4,
    );
    await watch.close();
    assert.deepEqual(lines, [
      "error not yet [XDSKIT_FOLDER_MISSING]",
      "error the new settings cannot be used now: those in use stay, and it is tried again",
      "info settings in use: groups, references",
      "warn the settings file has changed: restart to use tls",
    ]);
    assert.equal(tries, 3);
  });
});
