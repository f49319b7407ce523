import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import Module, { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/** What Node's own loader calls for each CommonJS file that it has read. */
interface Compiling {
  exports: unknown;
  _compile(text: string, filename: string, ...more: unknown[]): unknown;
}

const maxAgeMs = 30 * 24 * 3_600_000;
const sumBytes = 4;

/**
 * Keeps in `folder` the compiled code of the CommonJS files that `isKept` names and that are loaded from now on, for
 * the next process that loads the same texts with the same Node to do the same. Node 22 does this itself
 * (`module.enableCompileCache`). What was compiled until the process exits is written then; a process that is killed
 * leaves nothing. What cannot be read or written is compiled again: this never fails. Code that another user wrote, or
 * that is damaged, is not run.
 *
 * `command` is what this process does, in letters: of files that many commands share each command runs other functions.
 */
export function keepCompiledCode(folder: string, isKept: (filename: string) => boolean, command: string): void {
  const place = join(folder, `${process.version}-${process.arch}-${cachedDataVersionTag()}-${command}`);
  const compiled = new Map<string, Script>();
  const prototype = Module.prototype as unknown as Compiling;
  const compile = prototype._compile;
  prototype._compile = function (text, filename, ...more) {
    if (!isKept(filename)) return compile.call(this, text, filename, ...more);
    // As Node 22 does: one that differs has another name.
    const name = `${basename(filename)}-${crc32(text, crc32(filename)).toString(16)}-${text.length}`;
    const cachedData = readCode(join(place, name));
    const script = new Script(Module.wrap(text), { filename, ...(cachedData && { cachedData }) });
    if (cachedData === undefined || script.cachedDataRejected) compiled.set(name, script);
    const run = script.runInThisContext() as (...args: unknown[]) => unknown;
    return run.call(this.exports, this.exports, createRequire(filename), this, filename, dirname(filename));
  };
  process.on("exit", () => {
    if (compiled.size > 0) writeCodes(place, compiled);
  });
}

/** A file is the sum of its code, and the code. V8 itself compares its version, its options, and the text's length. */
function readCode(file: string): Buffer | undefined {
  try {
    const opened = openSync(file, "r");
    try {
      const user = process.getuid?.();
      if (user !== undefined && fstatSync(opened).uid !== user) return undefined;
      const bytes = readFileSync(opened);
      const code = bytes.subarray(sumBytes);
      return bytes.readUInt32LE() === crc32(code) ? code : undefined;
    } finally {
      closeSync(opened);
    }
  } catch {
    return undefined;
  }
}

function removeOld(folder: string): void {
  const oldest = Date.now() - maxAgeMs;
  for (const name of readdirSync(folder)) {
    const one = join(folder, name);
    if (statSync(one).mtimeMs < oldest) rmSync(one, { force: true, recursive: true });
  }
}

function writeCodes(folder: string, compiled: ReadonlyMap<string, Script>): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [name, script] of compiled) {
      const code = script.createCachedData();
      const sum = Buffer.alloc(sumBytes);
      sum.writeUInt32LE(crc32(code));
      const making = join(folder, `${name}.${process.pid}`);
      // Never by way of somebody's link.
      rmSync(making, { force: true });
      writeFileSync(making, Buffer.concat([sum, code]), { mode: 0o600, flag: "wx" });
      renameSync(making, join(folder, name));
    }
    // Of other versions of xdskit, and of Node. What is still in use is compiled again once.
    for (const place of [folder, dirname(folder)]) removeOld(place);
  } catch {
    // A folder that cannot be written, or that another process cleans at the same time.
  }
}
