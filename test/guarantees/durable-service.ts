// The service in a process of its own, which an attack kills. Its data is in the given folder. It ends when its database does.
import { factsOf, startTestCloud } from "../harness/facts.ts";

const [, , outDir = "", dataDir = ""] = process.argv;
const cloud = await startTestCloud(outDir, "", { dataDir });
console.log(JSON.stringify(factsOf(cloud)));
await cloud.databaseExited;
process.exit(1);
