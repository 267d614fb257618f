// Deduplicates work that several callers request concurrently.

/** Returns a function that runs the work under a name; concurrent callers with the same name share the result. */
export function createSingleFlight<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const inFlight = new Map<string, Promise<T>>()
  return (name, work) => {
    let answer = inFlight.get(name)
    if (answer === undefined) {
      answer = work().finally(() => inFlight.delete(name))
      inFlight.set(name, answer)
    }
    return answer
  }
}
