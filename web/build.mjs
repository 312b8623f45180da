// Builds the script and the style sheet of reports into the Python package.
//   node build.mjs           writes them
//   node build.mjs --check   fails if the committed ones are not those that the sources give
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const target = new URL("../python/odonata/report/static/", import.meta.url);
const licence = (await readFile(new URL("node_modules/uplot/LICENSE", import.meta.url), "utf8")).trim();
const notice = `/*! The reports of Odonata, Apache-2.0. This file contains uPlot:\n\n${licence}\n*/`;

const made = await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: { report: "src/main.ts", "report-style": "src/report.css" },
  outdir: "out",
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: ["chrome109", "firefox115", "safari16.4"],
  legalComments: "none",
  banner: { js: notice, css: notice },
});

let stale = false;
for (const file of made.outputFiles) {
  const css = file.path.endsWith(".css");
  // An import of a style sheet by the script gives a style sheet of its own, which the other one contains.
  if (css !== file.path.includes("report-style")) continue;
  const place = new URL(css ? "report.css" : "report.js", target);
  if (/https?:\/\/|<\/script|<\/style/i.test(file.text))
    throw new Error(`${place.pathname} has an address or ends its element`);
  if (process.argv.includes("--check")) {
    const found = await readFile(place, "utf8").catch(() => "");
    if (found !== file.text) {
      console.error(`error: ${place.pathname} is not what web/ gives`);
      stale = true;
    }
  } else {
    await writeFile(place, file.text);
    console.log(`${place.pathname}: ${file.text.length} bytes`);
  }
}
if (stale) {
  console.error("hint: make web, and commit the files");
  process.exit(1);
}
