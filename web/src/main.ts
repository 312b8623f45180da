// The script of a report: reads the data in the page and draws it.

import { followTheme } from "./colours";
import type { RunsReport } from "./document";
import { button, h } from "./dom";
import { unpack } from "./payload";
import { runsReport } from "./runs";
import { studyReport } from "./study";
import type { StudyReport } from "./study-data";

const switchTheme = followTheme();

async function main(): Promise<void> {
  const place = document.getElementById("report")!;
  try {
    const data = (await unpack(document.getElementById("data")?.textContent ?? "")) as RunsReport | StudyReport;
    place.append(header(), ...(data.kind === "study" ? studyReport(data) : runsReport(data)));
    place.dataset.ready = "";
  } catch (problem) {
    place.append(
      h("p", { role: "alert" }, `This report cannot be shown: ${String(problem)}. A current browser is needed.`),
    );
    throw problem;
  }
}

function header(): HTMLElement {
  const toggle = button("Dark or light", switchTheme);
  const print = button("Print", () => globalThis.print());
  return h("header", { class: "controls no-print" }, h("span", { class: "brand" }, "Odonata"), toggle, print);
}

void main();
