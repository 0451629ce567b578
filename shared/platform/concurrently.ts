// Processes many items, a few at a time.

/** A failure does not stop the others; the errors are thrown together at the end. */
export async function concurrently<T>(atOnce: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values(); // shared: each worker takes the next one that is left
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item).catch((error: unknown) => void errors.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${items.length} failed`);
}
