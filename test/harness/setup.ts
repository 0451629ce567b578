// This file runs before each test file.
import { requireNode24 } from "./node24.ts";

requireNode24();
