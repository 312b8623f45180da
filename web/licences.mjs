// Fails if a locked package has a licence that the project does not accept (deny.toml has the list of the Rust crates).
import { readFile } from "node:fs/promises";

const ACCEPTED = new Set(["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"]);

const lock = JSON.parse(await readFile(new URL("package-lock.json", import.meta.url), "utf8"));
let failed = false;
for (const [path, { license, resolved }] of Object.entries(lock.packages)) {
  const choices = String(license).split(" OR ");
  if (!choices.some((choice) => ACCEPTED.has(choice))) {
    console.error(`error: ${path}: the licence ${license} is not accepted`);
    failed = true;
  }
  if (resolved) {
    console.error(`error: ${path}: the lock file names a host; npm install writes it anew without (web/.npmrc)`);
    failed = true;
  }
}
process.exit(failed ? 1 : 0);
