// Nobody can mistake the sandbox for live: every page has a strip at the top.
import { useEnvironment } from "./title.ts";

export function EnvironmentBanner() {
  if (useEnvironment() !== "test") return null;
  return (
    <section className="environment" aria-label="Environment">
      <strong>TEST</strong> Sandbox. Servers, instances and backups here are simulated and free of charge.
    </section>
  );
}
