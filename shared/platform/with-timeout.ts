// A limit for a wait.

/** Settles as the work does, or rejects with `late` after so many milliseconds: the work then goes on without anybody waiting. */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number, timeout: Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, milliseconds, timeout);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
