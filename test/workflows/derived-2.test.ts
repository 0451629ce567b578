import { derived } from "./derived.ts";

derived({ index: 1, of: 3 });
