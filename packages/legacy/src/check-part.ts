export type CheckPart = { name: string; compared: number; differing: number; examples: string[] }

const maxExamples = 5

/** Creates a counter of comparisons that keeps a few examples of differences. */
export function createPart(name: string) {
  const result: CheckPart = { name, compared: 0, differing: 0, examples: [] }
  const add = (comparedCount: number, differentCount: number, example: () => string): void => {
    result.compared += comparedCount
    result.differing += differentCount
    if (differentCount > 0 && result.examples.length < maxExamples) result.examples.push(example())
  }
  return {
    result,
    add,
    compare: (isSame: boolean, example: () => string): void => add(1, isSame ? 0 : 1, example),
  }
}

/** Calls `work` with batches of `size` items. */
export async function processInBatches<T>(
  items: AsyncIterable<T> | Iterable<T>,
  size: number,
  work: (batch: T[]) => Promise<void>,
): Promise<void> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    await work(batch)
    batch = []
  }
  if (batch.length > 0) await work(batch)
}
