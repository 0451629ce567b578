import { deaths } from "./deaths.ts";

deaths({ index: 1, of: 3 });
