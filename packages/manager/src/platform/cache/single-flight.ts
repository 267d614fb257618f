// Work that several callers request at once is done once.

/** Returns a function that runs the work under a name; callers with the same name meanwhile get the same result. */
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
