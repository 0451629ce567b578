// What the dashboard says of the keys that the service takes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../infra/built.ts";

test.each(["en", "de"])("the hint at the form (%s) names every kind of key", (language) => {
  const [, hint] =
    /keyHint: "([^"]+)"/.exec(readFileSync(join(ROOT, `dashboard/src/messages/${language}/ssh-keys.tsx`), "utf8")) ?? [];
  for (const kind of ["Ed25519", "ECDSA", "sk-", "RSA"]) expect(hint).toContain(kind);
});
