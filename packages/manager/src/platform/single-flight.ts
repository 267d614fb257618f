// Work that several ask for at once is done once.

/** A function that runs the work under a name; who asks for the same name meanwhile gets the same answer. */
export function createSingleFlight<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const underway = new Map<string, Promise<T>>()
  return (name, work) => {
    let answer = underway.get(name)
    if (answer === undefined) {
      answer = work().finally(() => underway.delete(name))
      underway.set(name, answer)
    }
    return answer
  }
}
