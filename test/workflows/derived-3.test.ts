import { derived } from "./derived.ts";

derived({ index: 2, of: 3 });
