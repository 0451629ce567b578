// A limit for a wait.

/** Settles as the work does, or rejects with `timeout` after so many milliseconds: the work then goes on, but nobody waits. */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number, timeout: Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, milliseconds, timeout);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
