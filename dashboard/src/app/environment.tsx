// The sandbox cannot be mistaken for the real thing: a strip above everything, on every page.
import { useEnvironment } from "./title.ts";

export function EnvironmentBanner() {
  if (useEnvironment() !== "test") return null;
  return (
    <section className="environment" aria-label="Environment">
      <strong>TEST</strong> Sandbox. Servers, instances and backups here are simulated and free of charge.
    </section>
  );
}
