import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its private key, as PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority of a test's own. */
export interface Authority extends Certificate {
  /** A certificate for these (`DNS:localhost`, `IP:127.0.0.1`), or for nobody in particular. */
  issue(commonName: string, ...names: readonly string[]): Certificate;
}

/** Makes keys and certificates, valid for two days, with `openssl`. */
export function createAuthority(commonName: string): Authority {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-ca-"));
  const file = (name: string) => join(folder, name);
  const read = (name: string) => readFileSync(file(name), "utf8");
  const make = (name: string, subject: string, more: readonly string[]) => {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file(`${name}.key`)];
    const args = [
      "req",
      "-x509",
      ...key,
      "-subj",
      `/CN=${subject}`,
      "-days",
      "2",
      "-out",
      file(`${name}.pem`),
      ...more,
    ];
    execFileSync("openssl", args, { stdio: "pipe" });
    return { certificate: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  try {
    const own = make("ca", commonName, ["-addext", "keyUsage=critical,keyCertSign"]);
    return {
      ...own,
      issue(subject, ...names) {
        const again = mkdtempSync(join(tmpdir(), "xdskit-ca-"));
        const at = (name: string) => join(again, name);
        try {
          writeFileSync(at("ca.pem"), own.certificate);
          writeFileSync(at("ca.key"), own.key);
          const extension = [`basicConstraints=critical,CA:FALSE`];
          if (names.length > 0) extension.push(`subjectAltName=${names.join(",")}`);
          writeFileSync(at("extensions"), extension.join("\n"));
          const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", at("key.pem")];
          const request = ["req", "-new", ...key, "-subj", `/CN=${subject}`, "-out", at("request.pem")];
          execFileSync("openssl", request, { stdio: "pipe" });
          const signer = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-days", "2"];
          const files = ["-in", at("request.pem"), "-extfile", at("extensions"), "-out", at("certificate.pem")];
          execFileSync("openssl", ["x509", "-req", ...signer, ...files], { stdio: "pipe" });
          return {
            certificate: readFileSync(at("certificate.pem"), "utf8"),
            key: readFileSync(at("key.pem"), "utf8"),
          };
        } finally {
          rmSync(again, { recursive: true, force: true });
        }
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The lines of a PEM text that say something, for a search whether any of them got out. */
export const contentLines = (pem: string): readonly string[] =>
  pem.split("\n").filter((line) => line.length > 10 && !line.startsWith("-----"));
