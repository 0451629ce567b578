// Rewrites the golden files from the code: `npm run golden`. Review the difference before you commit it.
import { writeFileSync } from "node:fs";
import { goldens, inThisFolder } from "./golden.ts";

for (const [name, made] of Object.entries(goldens)) writeFileSync(inThisFolder(name), made());
