// Records the first minute with xdskit, in a real terminal, into docs/images/first-minute.svg: npm run recording
//
// It needs Linux, a build, and an Envoy on the PATH or in .cache/peers/bin. The session has a network of its own, so
// that the usual ports are free. What programs print is as it was; only pauses of more than a second are cut to one.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { picture } from "./picture.mjs";
import { createScreen } from "./screen.mjs";
import { session } from "./session.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const [columns, height] = [100, 26];
const prompt = /\$ $/;
const [longestPauseMs, patienceMs] = [1_000, 120_000];

const folder = mkdtempSync(join(tmpdir(), "xdskit-recording-"));
const home = join(folder, "my-mesh");
mkdirSync(home);
// Else the shell brackets each line with marks that are not for reading.
writeFileSync(join(folder, "inputrc"), "set enable-bracketed-paste off\n");
symlinkSync(join(root, "node_modules"), join(home, "node_modules"));

const shell = `ip link set lo up; stty columns ${columns} rows ${height}; exec bash --norc --noprofile -i`;
// A network of its own, and processes that end with it.
const own = ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child"];
const terminal = spawn("unshare", [...own, "script", "-qfc", shell, "/dev/null"], {
  cwd: home,
  env: {
    PATH: `${join(root, ".cache/peers/bin")}:${process.env.PATH}`,
    HOME: folder,
    INPUTRC: join(folder, "inputrc"),
    TERM: "xterm-256color",
    PS1: "$ ",
    // What npm says of itself is not what is shown here.
    NPM_CONFIG_UPDATE_NOTIFIER: "false",
  },
});
terminal.stderr.pipe(process.stderr);

/** What the terminal printed, and when. */
const printed = [];
let output = "";
terminal.stdout.setEncoding("utf8").on("data", (text) => {
  printed.push({ at: performance.now(), text });
  output += text;
});

/** Waits until the terminal printed that after a place in its output. */
async function said(pattern, from) {
  const deadline = performance.now() + patienceMs;
  while (!pattern.test(output.slice(from))) {
    if (performance.now() > deadline) throw new Error(`${pattern} never came:\n${output}`);
    await sleep(20);
  }
}

try {
  await said(prompt, 0);
  for (const { type, says } of session) {
    // The server's log came behind the prompt: whoever sits there wants a new one.
    if (!prompt.test(output)) {
      terminal.stdin.write("\n");
      await said(prompt, 0);
    }
    const from = output.length;
    for (const letter of type) {
      terminal.stdin.write(letter);
      await sleep(25);
    }
    await sleep(300);
    terminal.stdin.write("\n");
    await said(says, from + type.length);
    await sleep(900);
  }
  const screen = createScreen(columns);
  let [before, clock] = [printed[0].at, 0];
  for (const { at, text } of printed) {
    clock += Math.min(at - before, longestPauseMs);
    before = at;
    screen.write(text, Math.round(clock));
  }
  const title = "The first minute: a folder, a server, an Envoy, a change, and a mistake";
  writeFileSync(join(root, "docs/images/first-minute.svg"), picture(screen.rows, { columns, height, title }));
} finally {
  terminal.kill("SIGKILL");
  terminal.stdout.destroy();
  rmSync(folder, { recursive: true, force: true });
}
