// Runs work at a constant rate, or with limited concurrency.

// Additional concurrent calls would only queue in this process.
const maxOpen = 256

/**
 * Calls `act` at a constant rate until the returned function is called. A slow call delays other calls only if 256
 * calls are already in flight.
 */
export function runAtPace(perSecond: number, act: () => Promise<void>): () => Promise<void> {
  const started = performance.now()
  const open = new Set<Promise<void>>()
  let [count, failure]: [number, unknown] = [0, null]
  const timer = setInterval(() => {
    for (const due = ((performance.now() - started) / 1_000) * perSecond; count < due; count++) {
      if (open.size >= maxOpen) continue
      const one: Promise<void> = act()
        .catch((error: unknown) => void (failure ??= error))
        .finally(() => open.delete(one))
      open.add(one)
    }
  }, 5)
  return async () => {
    clearInterval(timer)
    await Promise.all(open)
    if (failure !== null) throw failure as Error
  }
}

/** Maps all items with at most `concurrency` concurrent calls. The results keep the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index] as T)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}
