// Prints a JSON object of Khronos validator reports, one for each file named on the command line.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const validator = createRequire(import.meta.url)("gltf-validator");

async function validate(file) {
  const folder = path.dirname(path.resolve(file));
  try {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
      uri: path.basename(file),
      maxIssues: 0,
      writeTimestamp: false,
      externalResourceFunction: (uri) =>
        fs.promises
          .readFile(path.join(folder, decodeURIComponent(uri)))
          .then((data) => new Uint8Array(data)),
    });
    return report.issues.messages.map(({ code, severity, pointer, message }) => ({
      code, severity, pointer, message,
    }));
  } catch (error) {
    // What the validator cannot even parse.
    return [{ code: "UNREADABLE", severity: 0, pointer: "", message: String(error) }];
  }
}

const reports = {};
for (const file of process.argv.slice(2)) reports[file] = await validate(file);
process.stdout.write(JSON.stringify(reports));
