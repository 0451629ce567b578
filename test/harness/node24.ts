// The functions run on Node 24, and so must their tests: older ones lack argon2 and crash when a test fails.
const NODE_MAJOR = 24;

export function requireNode24(): void {
  const [major] = process.versions.node.split(".");
  if (Number(major) >= NODE_MAJOR) return;
  throw new Error(
    `The tests need Node ${NODE_MAJOR} or later and this is ${process.versions.node}: run them with npm test or npx vitest.`,
  );
}
