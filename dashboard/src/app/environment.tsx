// Nobody can mistake the sandbox for live: every page has a strip at the top.
import { text } from "../messages/text.ts";
import { useBrandedPage } from "./brand.ts";
import { useEnvironment } from "./title.ts";

export function EnvironmentBanner() {
  useBrandedPage();
  if (useEnvironment() !== "test") return null;
  return (
    <section className="environment" aria-label={text.app.environment.label}>
      <strong>{text.app.environment.test}</strong> <span className="in-full">{text.app.environment.sandbox}</span>
      <span className="in-short">{text.app.environment.sandboxInShort}</span>
    </section>
  );
}
