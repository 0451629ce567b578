import { deaths } from "./deaths.ts";

deaths({ index: 0, of: 3 });
