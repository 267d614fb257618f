// Deduplicates work that several callers request concurrently.

/** Returns a function that runs the work under a name; concurrent callers with the same name share the result. */
export function createSingleFlight<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const inFlight = new Map<string, Promise<T>>()
  return (name, work) => {
    let result = inFlight.get(name)
    if (result === undefined) {
      result = work().finally(() => inFlight.delete(name))
      inFlight.set(name, result)
    }
    return result
  }
}
