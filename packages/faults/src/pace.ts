// Work at an even pace, or so many at a time.

// More would only wait for each other in this process.
const mostOpen = 256

/** Does something at an even pace until it is told to end. One that takes long does not hold the next, up to a number. */
export function keepDoing(perSecond: number, act: () => Promise<void>): () => Promise<void> {
  const started = performance.now()
  const open = new Set<Promise<void>>()
  let [count, failure]: [number, unknown] = [0, null]
  const timer = setInterval(() => {
    for (const due = ((performance.now() - started) / 1_000) * perSecond; count < due; count++) {
      if (open.size >= mostOpen) continue
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

/** Does it for each, some at once. */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
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
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
