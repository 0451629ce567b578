import { derived } from "./derived.ts";

derived({ index: 0, of: 3 });
